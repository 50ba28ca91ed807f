"""A report in the formats that others read: text for a terminal, JSON for tools."""
