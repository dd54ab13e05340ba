"""What is declared: the rows people wrote, and every change ever made to them."""
