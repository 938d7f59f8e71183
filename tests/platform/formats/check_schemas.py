"""Checks payloads against JSON schemas: `check_schemas.py payloads.json adf-schema.json`. Prints what is wrong."""

import json
import sys

from jsonschema import Draft4Validator, Draft202012Validator
from ocsf_json_schema import OcsfJsonSchemaEmbedded, get_ocsf_schema

payloads = json.load(open(sys.argv[1], encoding="utf-8"))
ocsf = OcsfJsonSchemaEmbedded(get_ocsf_schema(version="1.3.0"))


def of_class(uid):
    name = ocsf.lookup_class_name_from_uid(class_uid=uid)
    return Draft202012Validator(ocsf.get_class_schema(class_name=name, profiles=[]))


validators = {
    "jira": Draft4Validator(json.load(open(sys.argv[2], encoding="utf-8"))),
    "ocsf": of_class(2004),
    "audit": of_class(6003),
}
problems = [
    f"{kind} {list(error.absolute_path)}: {error.message[:300]}"
    for kind, validator in validators.items()
    for payload in payloads[kind]
    for error in validator.iter_errors(payload)
]
print("\n".join(sorted(set(problems))))
