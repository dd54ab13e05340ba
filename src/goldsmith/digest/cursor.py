"""Walk over tokens: accept words, read dotted names, skip parentheses."""

from __future__ import annotations

from goldsmith.digest.lexer import DOLLAR, NUMBER, QUOTED, STRING, SYMBOL, WORD, Token

_END = Token(SYMBOL, "", "", 0, 0)


class Cursor:
    """A position in a list of tokens."""

    __slots__ = ("index", "tokens")

    def __init__(self, tokens: list[Token], index: int = 0) -> None:
        self.tokens = tokens
        self.index = index

    @property
    def over(self) -> bool:
        return self.index >= len(self.tokens)

    def peek(self, ahead: int = 0) -> Token:
        at = self.index + ahead
        return self.tokens[at] if at < len(self.tokens) else _END

    def next(self) -> Token:
        token = self.peek()
        self.index += 1
        return token

    def accept(self, *options: str) -> bool:
        """Step over a token if its upper-case text is among these."""
        if not self.over and self.peek().upper in options:
            self.index += 1
            return True
        return False

    def sequence(self, text: str) -> bool:
        """Step over several words if they follow here in this order."""
        wanted = text.split()
        if all(self.peek(ahead).upper == word for ahead, word in enumerate(wanted)):
            self.index += len(wanted)
            return True
        return False

    def skip_group(self) -> list[Token]:
        """Step over a parenthesised group; returns the tokens inside."""
        if self.peek().value != "(" or self.peek().kind != SYMBOL:
            return []
        self.index += 1
        begin, depth = self.index, 1
        while not self.over:
            token = self.next()
            if token.kind == SYMBOL:
                if token.value == "(":
                    depth += 1
                elif token.value == ")":
                    depth -= 1
                    if depth == 0:
                        return self.tokens[begin : self.index - 1]
        return self.tokens[begin:]

    def find(self, *options: str) -> bool:
        """Move to the first of these words at this depth, and behind it."""
        depth = 0
        for index in range(self.index, len(self.tokens)):
            token = self.tokens[index]
            if token.kind == SYMBOL and token.value in "()" and token.value:
                depth += 1 if token.value == "(" else -1
            elif depth == 0 and token.kind == WORD and token.upper in options:
                self.index = index + 1
                return True
        return False

    def string(self) -> str | None:
        """The value of a string literal here."""
        if self.peek().kind in (STRING, DOLLAR):
            return self.next().value
        return None

    def name(self, *, upto: int = 6) -> list[tuple[str, bool]] | None:
        """A dotted name: its parts, each with whether it was quoted."""
        parts: list[tuple[str, bool]] = []
        while len(parts) < upto:
            token = self.peek()
            if token.kind == WORD:
                parts.append((token.value, False))
            elif token.kind == QUOTED:
                parts += [(token.value, True)]
            elif (
                parts
                and token.kind == NUMBER
                and self.peek(1).kind == WORD
                and self.peek(1).start == token.end
            ):
                self.index += 1
                parts.append((token.value + self.peek().value, False))
            elif parts and token.value == "." and token.kind == SYMBOL:
                parts.append(("", False))  # `db..table`
                self.index += 1
                continue
            else:
                return parts or None
            self.index += 1
            self._hyphens(parts)
            self._digits(parts)
            if self.peek().value == "." and self.peek().kind == SYMBOL:
                self.index += 1
                continue
            break
        return parts or None

    def _digits(self, parts: list[tuple[str, bool]]) -> None:
        """Add parts that begin with a digit: the lexer takes the `.1` of `db.1st` for a number."""
        while (
            self.index
            and self.peek().kind == NUMBER
            and self.peek().value.startswith(".")
            and self.peek().start == self.tokens[self.index - 1].end
        ):
            number = self.next()
            part = number.value[1:]
            if self.peek().kind == WORD and self.peek().start == number.end:
                part += self.next().value
            parts.append((part, False))

    def _hyphens(self, parts: list[tuple[str, bool]]) -> None:
        """Add what follows a hyphen without a space: BigQuery's `my-project.x.y`."""
        while (
            self.peek().value == "-"
            and self.index
            and self.peek().start == self.tokens[self.index - 1].end
            and self.peek(1).start == self.peek().end
            and self.peek(1).kind in (WORD, NUMBER)
        ):
            text, quoted = parts.pop()
            parts.append((f"{text}-{self.peek(1).value}", quoted))
            self.index += 2


def starts(tokens: list[Token], text: str) -> bool:
    """Whether these words begin the tokens."""
    return Cursor(tokens).sequence(text)
