"""What is known of programs: which run others, which arguments run or write something, which programs only read.

E43, E44 and E46 look here. A program that is missing runs nothing that is known and may write what it names.
"""
