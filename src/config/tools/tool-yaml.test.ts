// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is the syntax of our files.

import { describe, expect, test } from 'vitest'
import { type LoadInput, loadLines, mistakesIn } from '../testing/load-lines.ts'

const files = {
  '/a/tools.ts': 'export const look = () => 1',
  '/a/openapi.yaml': 'openapi: 3.1.0',
  '/a/ask.md': 'Summarise: {text}\n',
  '/a/data/x.txt': '',
  '/a/server.js': '',
}

const toolsOf = (lines: string, input: LoadInput = {}) => loadLines(`tools:\n${lines}`, { files, ...input }).tools

/** Mistakes in a file with one tool, written on line 4. */
const mistakes = (tool: string, input: LoadInput = {}) => mistakesIn(`tools: [${tool}]`, { files, ...input })

const once = { effect: 'once', risk: 'high', timeoutMs: 30_000, retries: 0, approval: null, predictState: [] }
const read = { ...once, effect: 'read', risk: 'low' }
const nothing = { type: 'object', properties: {}, additionalProperties: false }

describe('a tool', () => {
  test('of each kind can be short, because everything else has a default', () => {
    const tools = toolsOf(`
  - { type: function, name: look, file: tools.ts }
  - { type: mcp, name: files, command: npx }
  - { type: mcp, name: remote, url: "https://mcp.example.com/mcp" }
  - { type: client, name: show, description: Shows a map. }
  - { type: http, name: fetch, description: Fetches a page., url: "https://example.com/" }
  - { type: http, name: shop, openapi: openapi.yaml }
  - { type: prompt, name: sum, description: Sums a text up., template: Say it again. }
  - { type: knowledge, name: docs, source: ./data }
`)
    expect(tools).toEqual([
      {
        type: 'function',
        name: 'look',
        description: null,
        parameters: null,
        returns: null,
        file: '/a/tools.ts',
        export: 'look',
        ...once,
      },
      {
        type: 'mcp',
        written: [],
        name: 'files',
        connection: { kind: 'stdio', command: 'npx', args: [], env: {}, directory: '/a' },
        bound: { command: 'npx', directory: '/a', args: undefined, env: {} },
        allow: null,
        deny: [],
        prefix: '',
        trustHints: false,
        resources: false,
        prompts: false,
        tools: {},
        ...once,
      },
      {
        type: 'mcp',
        written: [],
        name: 'remote',
        connection: { kind: 'http', url: 'https://mcp.example.com/mcp', headers: {} },
        bound: { url: 'https://mcp.example.com/mcp', headers: undefined },
        allow: null,
        deny: [],
        prefix: '',
        trustHints: false,
        resources: false,
        prompts: false,
        tools: {},
        ...once,
      },
      {
        type: 'client',
        name: 'show',
        description: 'Shows a map.',
        parameters: nothing,
        returns: null,
        ...once,
        approval: { ask: 'never' },
      },
      {
        type: 'http',
        name: 'fetch',
        description: 'Fetches a page.',
        parameters: nothing,
        returns: null,
        method: 'GET',
        url: 'https://example.com/',
        headers: {},
        body: null,
        allowPrivate: false,
        bound: { url: 'https://example.com/' },
        ...once,
      },
      {
        type: 'openapi',
        written: [],
        name: 'shop',
        file: '/a/openapi.yaml',
        baseUrl: null,
        headers: {},
        allow: null,
        deny: [],
        allowPrivate: false,
        bound: {},
        ...once,
      },
      {
        type: 'prompt',
        name: 'sum',
        description: 'Sums a text up.',
        parameters: nothing,
        returns: null,
        template: 'Say it again.',
        ...read,
      },
      {
        type: 'knowledge',
        name: 'docs',
        description: null,
        sources: ['./data'],
        directory: '/a',
        folders: [expect.any(String)],
        ignore: [],
        embedding: null,
        ...read,
        timeoutMs: 60_000,
        approval: { ask: 'never' },
      },
    ])
  })

  test('can set every key', () => {
    const tools = toolsOf(
      `
  - type: function
    name: look
    file: tools.ts
    export: default
    description: Looks something up.
    parameters: { what: { type: string } }
    returns: { type: string }
    effect: idempotent
    risk: critical
    timeout: 1m
    retries: 3
    approval: risk >= critical
    predict_state: [{ state_key: found, tool_argument: what }, { state_key: all }]
  - type: mcp
    name: files
    command: ./server.js
    args: [--root, "\${ROOT}"]
    env: { TOKEN: "\${TOKEN}" }
    cwd: data
    allow: read_*
    deny: [read_secret]
    prefix: fs_
    trust_hints: true
    resources: true
    prompts: true
    effect: read
    retries: 1
    tools:
      write_file: { effect: once, approval: always, timeout: 5 }
      read_all: { risk: high, predict_state: [{ state_key: text }] }
  - type: http
    name: order
    description: Orders an article.
    method: POST
    url: \${SHOP}/articles/{article}?n={count}
    headers: { Authorization: "Bearer \${TOKEN}" }
    body: { note: "{note}", as_is: ["{{note}}", 1] }
    parameters: { article: { type: string }, count: { type: integer, default: 1 }, note: { type: string } }
    allow_private: true
  - type: http
    name: shop
    openapi: openapi.yaml
    base_url: https://shop.example.com
    headers: { X-Key: k }
    allow: [get*]
    deny: delete*
    effect: read
    risk: high
  - type: prompt
    name: sum
    description: Sums a text up.
    template: { file: ask.md }
    parameters: { text: { type: string } }
    effect: once
`,
      { env: { ROOT: '/data', TOKEN: '007', SHOP: 'http://127.0.0.1:1' } },
    )
    expect(tools).toEqual([
      {
        type: 'function',
        name: 'look',
        description: 'Looks something up.',
        parameters: {
          type: 'object',
          properties: { what: { type: 'string' } },
          required: ['what'],
          additionalProperties: false,
        },
        returns: { type: 'string' },
        file: '/a/tools.ts',
        export: 'default',
        effect: 'idempotent',
        risk: 'critical',
        timeoutMs: 60_000,
        retries: 3,
        approval: { ask: 'risk', atLeast: 'critical' },
        predictState: [
          { stateKey: 'found', toolArgument: 'what' },
          { stateKey: 'all', toolArgument: null },
        ],
      },
      {
        type: 'mcp',
        written: ['effect'],
        name: 'files',
        connection: {
          kind: 'stdio',
          command: '/a/server.js',
          args: ['--root', '/data'],
          env: { TOKEN: '007' },
          directory: '/a/data',
          hasCwd: true,
        },
        bound: {
          command: '/a/server.js',
          directory: '/a/data',
          args: { list: ['--root', '/data'] },
          env: { TOKEN: ['TOKEN'] },
        },
        allow: ['read_*'],
        deny: ['read_secret'],
        prefix: 'fs_',
        trustHints: true,
        resources: true,
        prompts: true,
        tools: {
          write_file: { effect: 'once', risk: 'high', timeoutMs: 5000, retries: 0, approval: { ask: 'always' } },
          read_all: { risk: 'high', predictState: [{ stateKey: 'text', toolArgument: null }] },
        },
        ...read,
        retries: 1,
      },
      {
        type: 'http',
        name: 'order',
        description: 'Orders an article.',
        parameters: {
          type: 'object',
          properties: {
            article: { type: 'string' },
            count: { type: 'integer', default: 1 },
            note: { type: 'string' },
          },
          required: ['article', 'note'],
          additionalProperties: false,
        },
        returns: null,
        method: 'POST',
        url: 'http://127.0.0.1:1/articles/{article}?n={count}',
        headers: { Authorization: 'Bearer 007' },
        body: { note: '{note}', as_is: ['{{note}}', 1] },
        allowPrivate: true,
        bound: {
          url: 'http://127.0.0.1:1/articles/{article}?n={count}',
          headers: { authorization: { text: ['Bearer ', { variable: 'TOKEN' }] } },
          body: { object: { note: '{note}', as_is: { list: ['{{note}}', 1] } } },
        },
        ...once,
      },
      {
        type: 'openapi',
        written: ['effect', 'risk'],
        name: 'shop',
        file: '/a/openapi.yaml',
        baseUrl: 'https://shop.example.com',
        headers: { 'X-Key': 'k' },
        allow: ['get*'],
        deny: ['delete*'],
        allowPrivate: false,
        bound: { base_url: 'https://shop.example.com', headers: { 'x-key': null } },
        ...read,
        risk: 'high',
      },
      {
        type: 'prompt',
        name: 'sum',
        description: 'Sums a text up.',
        parameters: {
          type: 'object',
          properties: { text: { type: 'string' } },
          required: ['text'],
          additionalProperties: false,
        },
        returns: null,
        template: 'Summarise: {text}\n',
        ...once,
      },
    ])
  })

  test('of an MCP server has the risk of its own effect, unless the server’s risk is set', () => {
    const server = (more: string) =>
      toolsOf(`  - { type: mcp, name: s, command: x, ${more}, tools: { a: { effect: read }, b: { effect: once } } }`)
    expect(server('args: []')).toMatchObject([
      { risk: 'high', tools: { a: { effect: 'read', risk: 'low' }, b: { effect: 'once', risk: 'high', retries: 0 } } },
    ])
    expect(server('risk: critical')).toMatchObject([
      { risk: 'critical', tools: { a: { effect: 'read' }, b: { effect: 'once', retries: 0 } } },
    ])
    expect(server('risk: critical')[0]).not.toHaveProperty('tools.a.risk')
  })
})

describe('the parameters of a tool', () => {
  const parametersOf = (yaml: string) => {
    const [tool] = toolsOf(`  - { type: client, name: t, description: Ten letters at least., parameters: ${yaml} }`)
    return tool?.type === 'client' ? tool.parameters : null
  }

  test('can be a JSON Schema, which is used as it is', () => {
    expect(parametersOf('{ type: object, properties: { a: { type: string } }, required: [a] }')).toEqual({
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
    })
    expect(parametersOf('{ properties: { a: { type: string } } }')).toEqual({
      type: 'object',
      properties: { a: { type: 'string' } },
    })
  })

  test('have a short form: a parameter is required unless it has a default or is optional', () => {
    expect(
      parametersOf('{ a: { type: string }, b: { type: integer, default: 0 }, c: { enum: [1, 2], optional: true } }'),
    ).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'integer', default: 0 }, c: { enum: [1, 2] } },
      required: ['a'],
      additionalProperties: false,
    })
    expect(parametersOf('{}')).toEqual(nothing)
  })

  test('may have the names type and properties in the short form too', () => {
    expect(parametersOf('{ type: { type: string }, properties: { type: array } }')).toEqual({
      type: 'object',
      properties: { type: { type: 'string' }, properties: { type: 'array' } },
      required: ['type', 'properties'],
      additionalProperties: false,
    })
  })

  test.each([
    ['{ a: string }', 'a: expected a schema, found "string". Write e.g. a: { type: string }'],
    [
      '{ a: { type: strng } }',
      'a.type: expected one of string, number, integer, boolean, object, array, null, found "strng". Did you mean string?',
    ],
    ['{ a: { typ: string } }', 'a.typ: JSON Schema has no keyword typ. Did you mean type?'],
    [
      '{ a: { type: string, required: true } }',
      'a.required: expected a list of names, found true. Every parameter without a default is required; write optional: true where it is not',
    ],
    [
      '{ a: { type: string, optional: maybe } }',
      'a.optional: expected true or false, found "maybe". Write optional: true',
    ],
    ['{ a: { type: integer, default: x } }', 'a.default: the default "x" does not fit its own type or enum.'],
    ['{ type: array }', 'type: the arguments of a tool are an object, found "array". Write type: object'],
    [
      '{ type: object, properties: { city: {} }, required: [ctiy] }',
      'required[0]: ctiy is not among the properties. Did you mean city?',
    ],
  ])('%s is explained', (yaml, expected) => {
    const found = mistakes(`{ type: client, name: t, description: Ten letters at least., parameters: ${yaml} }`)
    expect(found.map((line) => line.replace(/^agent\.yaml:4:\d+ tools\[0\]\.parameters\./, ''))).toEqual([expected])
  })
})

describe('a mistake in a tool', () => {
  const client = 'type: client, name: t, description: Ten letters at least.'
  const http = 'type: http, name: t, description: Ten letters at least.'

  test.each([
    [
      '{ name: t }',
      '4:9 tools[0].type: this key is missing; expected one of function, mcp, client, http, agent, prompt, knowledge. Write e.g. type: http',
    ],
    [
      '{ type: htp, name: t }',
      '4:17 tools[0].type: expected one of function, mcp, client, http, agent, prompt, knowledge, found "htp". Did you mean http?',
    ],
    [
      '{ type: function, name: t, file: tools.py }',
      '4:42 tools[0].file: expected a file that ends in .ts or .js, found "tools.py". Write e.g. file: tools.ts',
    ],
    [
      '{ type: function, name: t, file: no.ts }',
      '4:42 tools[0].file: no.ts: there is no such file. Paths are relative to this file.',
    ],
    ['{ type: function, name: t, file: tools.ts, exprt: x }', '4:52 tools[0].exprt: unknown key. Did you mean export?'],
    [
      '{ type: function, name: t, file: tools.ts, description: short }',
      '4:65 tools[0].description: expected text of at least 10 characters, found "short". Write e.g. description: Current weather for a city.',
    ],
    [
      '{ type: function, name: t, file: tools.ts, timeout: 0 }',
      '4:61 tools[0].timeout: expected seconds, or a time such as "30s", "15m" or "2h", at most 24 days, found 0. Write e.g. timeout: 10s',
    ],
    [
      '{ type: function, name: t, file: tools.ts, retries: 1 }',
      '4:61 tools[0].retries: a tool with effect: once is never retried, because the first attempt may have worked. If repeating a call is safe, write effect: read or effect: idempotent; otherwise remove retries',
    ],
    [
      '{ type: function, name: t, file: tools.ts, risk: medium }',
      '4:58 tools[0].risk: expected one of low, high, critical, found "medium". Write e.g. risk: low',
    ],
    [
      `{ ${client}, approval: always }`,
      '4:70 tools[0].approval: A client tool runs in the client, which can ask its own user. Remove this key.',
    ],
    [
      `{ ${client}, retries: 1 }`,
      '4:70 tools[0].retries: A client tool runs in the client, so the server cannot retry it. Remove this key.',
    ],
    [
      `{ ${client}, predict_state: [{ state_key: s, tool_argument: x }] }`,
      '4:117 tools[0].predict_state[0].tool_argument: the tool has no parameter x. Describe it under parameters.',
    ],
    [
      '{ type: mcp, name: t }',
      '4:9 tools[0]: expected exactly one of command and url, found neither. Write e.g. command: npx, or url: https://mcp.example.com/mcp',
    ],
    [
      '{ type: mcp, name: t, url: "https://me:secret@x/mcp" }',
      '4:36 tools[0].url: a url must not contain a user name or password. Put them in headers, e.g. Authorization: Basic ${MY_CREDENTIALS}',
    ],
    [
      '{ type: mcp, name: t, command: x, url: "http://x" }',
      '4:9 tools[0]: expected exactly one of command and url, found both. Write e.g. command: npx, or url: https://mcp.example.com/mcp',
    ],
    [
      '{ type: mcp, name: t, command: npx -y a-server }',
      '4:40 tools[0].command: command is the program alone. Put its arguments in args, e.g. args: [ -y, a-server ]',
    ],
    [
      '{ type: mcp, name: t, command: ./no.js }',
      '4:40 tools[0].command: no.js: there is no such file. Paths are relative to this file.',
    ],
    [
      '{ type: mcp, name: t, command: x, cwd: nowhere }',
      '4:48 tools[0].cwd: nowhere: there is no such folder. Paths are relative to this file.',
    ],
    [
      '{ type: mcp, name: t, command: x, headers: { A: b } }',
      '4:52 tools[0].headers: a server started by a command has no headers. Remove them, or pass their values in env',
    ],
    [
      '{ type: mcp, name: t, url: "http://x", args: [a] }',
      '4:54 tools[0].args: a server at a url is not started by Quarterdeck, so it has no args. Remove this key, or write command instead of url',
    ],
    [
      '{ type: mcp, name: t, url: "ws://x" }',
      '4:36 tools[0].url: expected an http or https URL, found "ws://x". Write e.g. url: https://mcp.example.com/mcp',
    ],
    [
      '{ type: mcp, name: t, command: x, env: { PORT: 8080 } }',
      '4:56 tools[0].env.PORT: expected text, found a value that is not shown here. Write e.g. PORT: "${TOKEN}"',
    ],
    [
      '{ type: mcp, name: t, command: x, description: Ten letters at least. }',
      '4:43 tools[0].description: The server describes each of its tools. Remove this key.',
    ],
    [
      '{ type: mcp, name: t, command: x, tools: { b: { retries: 1 } } }',
      '4:66 tools[0].tools.b.retries: a tool with effect: once is never retried, because the first attempt may have worked. If repeating a call is safe, write effect: read or effect: idempotent; otherwise remove retries',
    ],
    [
      '{ type: mcp, name: t, command: x, tools: { b: { efect: read } } }',
      '4:57 tools[0].tools.b.efect: unknown key. Did you mean effect?',
    ],
    [
      `{ ${http} }`,
      '4:9 tools[0].url: this key is missing; an http tool needs a url or an OpenAPI file. Write e.g. url: https://api.example.com/weather?city={city}, or openapi: openapi.yaml',
    ],
    [
      `{ ${http}, url: "example.com" }`,
      '4:73 tools[0].url: expected a url that starts with http:// or https://. Write e.g. url: https://api.example.com/weather?city={city}',
    ],
    [
      `{ ${http}, url: "https://{host}/x" }`,
      '4:73 tools[0].url: the host must not contain a parameter, because the model could then choose any host. Write e.g. url: https://api.example.com/weather?city={city}',
    ],
    [
      `{ ${http}, url: "https://u:p@x/" }`,
      '4:73 tools[0].url: a url must not contain a user name or password. Write headers: { Authorization: … }',
    ],
    [
      `{ ${http}, url: "https://x/{a" }`,
      '4:73 tools[0].url: the url contains a { or } that is not part of a {parameter}. Write %7B and %7D for the characters themselves',
    ],
    [
      `{ ${http}, url: "https://x/{city}" }`,
      '4:73 tools[0].url: {city} is not a parameter. Write e.g. parameters: { city: { type: string } }',
    ],
    [
      `{ ${http}, url: "https://x/{ctiy}", parameters: { city: {} } }`,
      '4:73 tools[0].url: {ctiy} is not a parameter. Did you mean {city}?',
    ],
    [
      `{ ${http}, url: "https://x/{{city}}", parameters: { city: {} } }`,
      '4:73 tools[0].url: the url contains a { or } that is not part of a {parameter}. Write %7B and %7D for the characters themselves',
    ],
    [
      `{ ${http}, url: "https://x/a b" }`,
      '4:73 tools[0].url: the url contains a space, a backslash or a #. Write %20, %5C or %23 instead',
    ],
    [
      `{ ${http}, url: "https://x/", headers: { X-Id: "{id}" } }`,
      '4:104 tools[0].headers.X-Id: {id} is not a parameter. Write e.g. parameters: { id: { type: string } }',
    ],
    [
      `{ ${http}, url: "https://x/", method: POST, body: { a: ["x {b}"] } }`,
      '4:113 tools[0].body.a[0]: {b} is not a parameter. Write e.g. parameters: { b: { type: string } }',
    ],
    [
      `{ ${http}, url: "https://x/", body: {} }`,
      '4:93 tools[0].body: a GET request has no body. Remove it, or write method: POST',
    ],
    [
      `{ ${http}, url: "https://x/", method: post }`,
      '4:95 tools[0].method: expected one of GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS, found "post". Did you mean POST?',
    ],
    [
      `{ ${http}, url: "https://x/", allow: [a] }`,
      '4:94 tools[0].allow: allow only works with openapi, and this tool has a url. Remove this key.',
    ],
    [
      `{ ${http}, url: "https://x/", headers: { "a b": c } }`,
      '4:98 tools[0].headers.a b: this name is not allowed here; expected header names with text values. Write e.g. headers: { Authorization: "Bearer ${TOKEN}" }',
    ],
    [
      '{ type: http, name: t, openapi: no.yaml }',
      '4:41 tools[0].openapi: no.yaml: there is no such file. Paths are relative to this file.',
    ],
    [
      '{ type: http, name: t, openapi: openapi.yaml, url: "https://x/" }',
      '4:60 tools[0].url: the OpenAPI file sets url for each operation. Remove this key.',
    ],
    [
      '{ type: agent, name: t, agent: x.yaml, parameters: {} }',
      '4:48 tools[0].parameters: An agent takes a message, not parameters. Remove this key, and say in the description what the message should contain.',
    ],
    [
      '{ type: agent, name: t, agent: x.yaml, handoff: true, timeout: 1 }',
      '4:72 tools[0].timeout: a handoff has no timeout, because the other agent has its own limits. Remove this key.',
    ],
    [
      '{ type: prompt, name: t, description: Ten letters at least., template: {} }',
      '4:80 tools[0].template: expected exactly one of inline and file, found neither. Write e.g. template: { inline: "Summarise in three sentences: {text}" }',
    ],
    [
      '{ type: prompt, name: t, description: Ten letters at least., template: { file: no.md } }',
      '4:88 tools[0].template.file: no.md: there is no such file. Paths are relative to this file.',
    ],
  ])('%s is explained', (tool, expected) => {
    expect(mistakes(tool)).toEqual([`agent.yaml:${expected}`])
  })

  test('does not hide those of other tools', () => {
    const yaml = `tools:
  - { type: function, name: t, file: tools.ts, retries: 1 }
  - { type: mcp, name: t2 }
  - { type: client, name: t3, description: x }`
    expect(mistakesIn(yaml, { files }).map((line) => line.split(' ', 2).join(' '))).toEqual([
      'agent.yaml:5:57 tools[0].retries:',
      'agent.yaml:6:5 tools[1]:',
      'agent.yaml:7:44 tools[2].description:',
    ])
  })

  test('never shows the value of a header or of a server’s environment variable', () => {
    const found = mistakes('{ type: mcp, name: t, url: "http://x", headers: { A: 12345, B: "x\\ny-secret" } }')
    expect(found).toHaveLength(2)
    expect(found.join('\n')).not.toMatch(/12345|secret/)
  })
})
