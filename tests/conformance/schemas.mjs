// The published schemas compile strictly, and accept the examples. Needs ajv and js-yaml.
import { readFileSync } from "node:fs";
import Ajv from "ajv";
import yaml from "js-yaml";

const ajv = new Ajv({ strict: true, strictRequired: false, strictTypes: false, allowUnionTypes: true, allErrors: true });
let failed = 0;
for (const pair of process.argv.slice(2)) {
  const [schema, file] = pair.split("=");
  const validate = ajv.compile(JSON.parse(readFileSync(schema, "utf8")));
  const document = yaml.load(readFileSync(file, "utf8"), { schema: yaml.CORE_SCHEMA });
  if (validate(document)) continue;
  ++failed;
  console.log(`${file}: ${ajv.errorsText(validate.errors, { separator: "\n  " })}`);
}
process.exit(failed > 0 ? 1 : 0);
