"""The commands of `python -m protocol`, one room each: their words, their JSON, and what they print.

What they do is in the rooms below; how they are called is in `__main__`.
"""
