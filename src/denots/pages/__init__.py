"""Pages that need nothing else: one style, charts drawn as SVG, tables; readable on a phone and in print."""
