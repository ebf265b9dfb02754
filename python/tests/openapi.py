"""Schemas of an OpenAPI 3.0 document as JSON Schema, which has no "nullable"."""


def as_json_schema(node, strict=False):
    """strict: objects have no room for fields that are not described."""
    if isinstance(node, list):
        return [as_json_schema(member, strict) for member in node]
    if not isinstance(node, dict):
        return node
    made = {name: as_json_schema(member, strict) for name, member in node.items()}
    if isinstance(made.get("type"), str) and made.pop("nullable", False):
        made["type"] = [made["type"], "null"]
    if strict and "properties" in made and "type" in made:
        made["additionalProperties"] = False
    return made
