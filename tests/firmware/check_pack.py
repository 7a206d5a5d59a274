"""What a CMSIS pack must have: elements, versions, conditions that exist, files that are there, and
no file that nobody lists."""
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

folder = pathlib.Path(sys.argv[1])
(description,) = folder.glob("*.pdsc")
package = ElementTree.parse(description).getroot()
assert package.tag == "package" and package.get("schemaVersion")
vendor, name = package.findtext("vendor"), package.findtext("name")
assert description.name == f"{vendor}.{name}.pdsc", description.name
assert package.find("description") is not None and package.find("url") is not None
version = package.find("releases/release").get("version")
assert re.fullmatch(r"\d+\.\d+\.\d+", version), version
conditions = {c.get("id") for c in package.iterfind("conditions/condition")}
components = package.findall("components/component")
assert len(components) == 1
component = components[0]
assert all(component.get(a) for a in ("Cclass", "Cgroup", "Csub", "Cversion"))
assert component.get("condition") in conditions
files = component.findall("files/file")
listed = {f.get("name") for f in files if f.get("category") in ("source", "header")}
there = {p.relative_to(folder).as_posix() for p in folder.rglob("*.[ch]")}
assert listed == there, listed ^ there
for file in files:
    if file.get("category") == "include":
        assert (folder / file.get("name")).is_dir(), file.get("name")
print(f"{len(listed)} files")
