// Fails the build if the script of the first page load is larger than 300 KB gzipped.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const LARGEST = 300 * 1024;
const page = new URL("../src/goldsmith/api/page/", import.meta.url);
const manifest = JSON.parse(readFileSync(new URL(".vite/manifest.json", page), "utf8"));
const first = new Set();
const add = (name) => {
  const entry = manifest[name];
  if (first.has(entry.file)) return;
  first.add(entry.file);
  (entry.imports ?? []).forEach(add);
};
add("index.html");
const bytes = [...first].reduce((sum, file) => sum + gzipSync(readFileSync(new URL(file, page))).length, 0);
console.log(`First page load: ${(bytes / 1024).toFixed(1)} KB of script, gzipped.`);
if (bytes > LARGEST) {
  console.error(`That is more than ${LARGEST / 1024} KB: load the larger parts on demand.`);
  process.exit(1);
}
