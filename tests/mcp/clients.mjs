// The official clients of TypeScript, over stdio or HTTP: clients.mjs FOLDER 1|2 COMMAND… or URL HEADERS.
// Each line of the input is a call; each line of the output is its result, or the message of what was thrown.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const [folder, version, target, ...rest] = process.argv.slice(2);
const load = createRequire(`${folder}/clients.js`);
const from = (...paths) => Object.assign({}, ...paths.map((path) => load(`@modelcontextprotocol/${path}`)));
const { Client, StdioClientTransport, StreamableHTTPClientTransport } =
  version === "1"
    ? from("sdk/client/index.js", "sdk/client/stdio.js", "sdk/client/streamableHttp.js")
    : from("client", "client/stdio");

const transport = target.startsWith("http:")
  ? new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers: JSON.parse(rest[0]) } })
  : new StdioClientTransport({ command: target, args: rest, env: process.env, stderr: "inherit" });
const client = new Client({ name: "tests", version: "1" });
await client.connect(transport);
await client.listTools(); // from now on, the client validates results

for await (const line of createInterface({ input: process.stdin })) {
  const { name, arguments: given } = JSON.parse(line);
  let told;
  try {
    told = { result: await client.callTool({ name, arguments: given }) };
  } catch (error) {
    told = { thrown: error.message };
  }
  console.log(JSON.stringify(told));
}
await client.close();
