// Runs the text of a Code node as n8n would: reads one JSON case per line on stdin, writes one result per line.
import { createInterface } from 'node:readline';

const items = jsons => jsons.map(json => ({ json }));
const node = outputs => ({
  first: (output = 0) => outputs[output][0],
  all: (output = 0) => {
    if (outputs[output] === undefined) throw new Error('no such output');
    return outputs[output];
  },
});

for await (const line of createInterface({ input: process.stdin })) {
  const { script, input, nodes } = JSON.parse(line);
  const others = Object.fromEntries(Object.entries(nodes).map(([name, outputs]) => [name, outputs.map(items)]));
  let result;
  try {
    const run = new Function('$input', '$', script);
    result = { items: run(node([items(input)]), name => node(others[name])).map(item => item.json) };
  } catch (error) {
    result = { error: error.message };
  }
  console.log(JSON.stringify(result));
}
