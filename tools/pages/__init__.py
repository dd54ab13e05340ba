"""The pages of the documentation that are made from definitions; `tools/docs.py` writes them."""
