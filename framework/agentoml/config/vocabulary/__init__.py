"""What schema.py is made of, and what is made of it: a JSON Schema and the reference."""
