import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// Relative addresses: the page works behind a proxy with a base path.
export default defineConfig({
  base: "./",
  plugins: [react()],
  build: { outDir: "../src/goldsmith/api/page", emptyOutDir: true, manifest: true, chunkSizeWarningLimit: 2000 },
  server: { proxy: { "/api": "http://127.0.0.1:8080", "/login": "http://127.0.0.1:8080" } },
});
