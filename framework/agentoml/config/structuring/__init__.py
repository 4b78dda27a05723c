"""What structure.py is made of: one value, one table, and what is wrong with them."""
