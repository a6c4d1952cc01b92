// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is the syntax of our files.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../test/tier.ts'
import { ServerError } from '../../domain/errors.ts'
import { ConfigError, formatIssue } from '../config-error.ts'
import type { Environment } from '../source/env-file.ts'
import { createMemoryFiles } from '../testing/memory-files.ts'
import { checkAgent, loadAgent } from './load-agents.ts'

const load = (yaml: string, env: Environment = {}, others: Record<string, string> = {}) =>
  loadAgent('/a/agent.yaml', { env, files: createMemoryFiles({ '/a/agent.yaml': yaml, ...others }) })

/** The issues of a file as the lines a person sees, without the folder. */
const mistakes = (yaml: string, env: Environment = {}, others: Record<string, string> = {}) => {
  const files = createMemoryFiles({ '/a/agent.yaml': yaml, ...others })
  const { agent, issues } = checkAgent('/a/agent.yaml', { env, files })
  expect(agent === null).toBe(issues.length > 0)
  return issues.map((issue) => formatIssue(issue).replace('/a/', ''))
}

/** A correct file with these lines in it. */
const withLines = (lines: string) => `name: a\nmodel: { provider: demo }\ninstructions: Be kind.\n${lines}`

const minimal = `name: bench
model: { provider: openai, name: fake, base_url: "http://127.0.0.1:9199/v1", api_key: none }
instructions: { inline: You are a test. }`

describe('memory', () => {
  const tool = (name: string) => `{ type: client, name: ${name}, description: Looks at something. }`
  const agent = (more: string) => `name: a\nmodel: { provider: demo }\ninstructions: hi\nmemory: true\n${more}`

  test('is off unless the file asks for it', () => {
    expect([load(minimal).memory, load(`${minimal}\nmemory: false`).memory, load(agent('')).memory]).toEqual([
      undefined,
      undefined,
      true,
    ])
  })

  test('brings three tools: no other tool has their names, and test cases may expect them', () => {
    expect(mistakes(agent(`tools: [${tool('look')}, ${tool('recall')}]`))).toEqual([
      expect.stringMatching(/tools\[1\]\.name: with `memory` the agent has a tool recall already/),
    ])
    expect(mistakes(agent('test_cases: [{ name: n, input: hi, tools: [remember] }]'))).toEqual([])
  })

  test('has no effect beside host', () => {
    const hosted = mistakes('name: a\nhost: { command: my-agent, workspace: . }\nmemory: true')
    expect(hosted).toContainEqual(expect.stringContaining('memory: this has no effect beside host. The program keeps'))
  })
})

describe('a correct agent file', () => {
  test('can be short, because everything else has a default', () => {
    expect(load(minimal)).toEqual({
      name: 'bench',
      description: '',
      directory: '/a',
      default: false,
      internal: false,
      instructions: 'You are a test.',
      model: {
        provider: 'openai',
        name: 'fake',
        baseUrl: 'http://127.0.0.1:9199/v1',
        apiKey: 'none',
        contextWindow: 128_000,
        retries: 2,
        connectTimeoutMs: 10_000,
        firstTokenTimeoutMs: 120_000,
        tokenTimeoutMs: 60_000,
      },
      tools: [],
      host: null,
      responseFormat: null,
      limits: {
        steps: 25,
        tokens: null,
        durationMs: 900_000,
        cost: null,
        toolCalls: 100,
        identicalCalls: 3,
        parallelCalls: 8,
        toolResultChars: 50_000,
        answerChars: 1_000_000,
        storedMessageChars: 100_000,
      },
      context: { maxMessages: 200, mode: 'summarize' },
      sessions: { ttlSeconds: 1800, onExpiry: 'continue', retentionDays: 30, onBusy: null },
      approval: { default: { ask: 'risk', atLeast: 'high' }, policy: [], by: 'operator', expiresSeconds: 3600 },
      source: { path: '/a/agent.yaml', text: minimal },
      testCases: [],
      judge: null,
      summarizer: null,
    })
  })

  test('can set every key', () => {
    const agent = load(
      `
name: support-2
description: Helps.
default: true
model:
  provider: anthropic
  name: claude
  temperature: 0
  max_tokens: 500
  top_p: 0.9
  base_url: https://proxy.example/v1
  api_key: k
  reasoning: { effort: high, budget_tokens: 1000 }
  context_window: 1000
  retries: 0
  proxy: proxy.test:3128
  connect_timeout: 5s
  first_token_timeout: 1.5
  token_timeout: 250ms
  prices: { input: 3, output: 15 }
  fallback: { provider: scripted, script: s.yaml, prices: { input: 0, output: 0 } }
instructions: { file: ../prompt.md }
response_format: { type: object, properties: { __proto__: { type: string } } }
limits:
  steps: 1
  tokens: 2
  duration: 1h
  cost: 0.5
  tool_calls: 3
  identical_calls: 4
  parallel_calls: 2
  tool_result_chars: 100
  stored_message_chars: 5000
context: { mode: summarize, max_messages: 6, model: { provider: demo } }
sessions: { ttl: 1d, on_expiry: close, retention_days: 0, on_busy: interrupt }
approval: { default: never, by: owner, expires: 10m }
suggestions: [ Hello?, ' What now? ' ]
judge: { provider: demo }
`,
      {},
      { '/prompt.md': 'Be brief. ${NOT_A_VARIABLE}\n', '/a/s.yaml': 'answers: []' },
    )
    const timeouts = {
      contextWindow: 128_000,
      retries: 2,
      connectTimeoutMs: 10_000,
      firstTokenTimeoutMs: 120_000,
      tokenTimeoutMs: 60_000,
    }
    expect(agent).toEqual({
      name: 'support-2',
      description: 'Helps.',
      directory: '/a',
      default: true,
      internal: false,
      instructions: 'Be brief. ${NOT_A_VARIABLE}\n',
      model: {
        provider: 'anthropic',
        name: 'claude',
        temperature: 0,
        maxTokens: 500,
        topP: 0.9,
        baseUrl: 'https://proxy.example/v1',
        apiKey: 'k',
        reasoning: { effort: 'high', budgetTokens: 1000 },
        contextWindow: 1000,
        retries: 0,
        connectTimeoutMs: 5000,
        proxy: 'proxy.test:3128',
        firstTokenTimeoutMs: 1500,
        tokenTimeoutMs: 250,
        prices: { input: 3, output: 15 },
        fallback: {
          provider: 'scripted',
          name: 'scripted',
          script: '/a/s.yaml',
          ...timeouts,
          prices: { input: 0, output: 0 },
        },
      },
      tools: [],
      responseFormat: JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}'),
      limits: {
        steps: 1,
        tokens: 2,
        durationMs: 3_600_000,
        cost: 0.5,
        toolCalls: 3,
        identicalCalls: 4,
        parallelCalls: 2,
        toolResultChars: 100,
        answerChars: 1_000_000,
        storedMessageChars: 5000,
      },
      context: { maxMessages: 6, mode: 'summarize' },
      sessions: { ttlSeconds: 86_400, onExpiry: 'close', retentionDays: 0, onBusy: 'interrupt' },
      approval: { default: { ask: 'never' }, policy: [], by: 'owner', expiresSeconds: 600 },
      suggestions: ['Hello?', 'What now?'],
      source: { path: '/a/agent.yaml', text: expect.stringContaining('  api_key: [masked]\n') },
      testCases: [],
      host: null,
      judge: { provider: 'demo', name: 'demo', ...timeouts },
      summarizer: { provider: 'demo', name: 'demo', ...timeouts },
    })
  })

  test('uses the server’s settings for keys that it leaves out', () => {
    const tool = 'type: client, description: Ten letters at least.'
    const files = createMemoryFiles({
      '/a/agent.yaml': withLines(
        `sessions: { ttl: 60 }\ntools: [{ name: t, ${tool} }, { name: quick, ${tool}, timeout: 2 }]`,
      ),
    })
    const defaults = {
      maxMessages: 7,
      ttlSeconds: 8,
      retentionDays: 9,
      toolTimeoutMs: 10,
      tryModels: [],
      knowledgeFolders: [],
    }
    const agent = loadAgent('/a/agent.yaml', { env: {}, files, defaults })
    expect([agent.context.maxMessages, agent.sessions.ttlSeconds, agent.sessions.retentionDays]).toEqual([7, 60, 9])
    expect(agent.tools.map(({ timeoutMs }) => timeoutMs)).toEqual([10, 2000])
  })

  test('may use anchors and aliases', () => {
    const agent = load(`name: a
model: { provider: openai, name: &m gpt, fallback: { provider: azure, name: *m, base_url: https://x } }
instructions: hi`)
    expect(agent.model?.fallback?.name).toBe('gpt')
  })
})

describe('the key of a model', () => {
  const env = {
    OPENAI_API_KEY: 'o',
    ANTHROPIC_API_KEY: 'a',
    GEMINI_API_KEY: 'g',
    AZURE_OPENAI_API_KEY: 'z',
    AZURE_OPENAI_ENDPOINT: 'https://r.openai.azure.com',
    AZURE_OPENAI_API_VERSION: '2026-01-01',
  }
  const model = (line: string, variables: Environment = env) => {
    const { provider, apiKey, baseUrl } = load(`name: a\nmodel: ${line}\ninstructions: hi`, variables).model ?? {}
    return { provider, apiKey, baseUrl }
  }

  test.each([
    ['{ provider: openai, name: x }', { provider: 'openai', apiKey: 'o' }],
    ['{ provider: openai, name: x, api_key: own }', { provider: 'openai', apiKey: 'own' }],
    ['{ provider: openai, name: x, api_key: none }', { provider: 'openai', apiKey: 'none' }],
    ['{ provider: anthropic, name: x }', { provider: 'anthropic', apiKey: 'a' }],
    ['{ provider: google, name: x }', { provider: 'google', apiKey: 'g' }],
    ['{ provider: gemini, name: x }', { provider: 'google', apiKey: 'g' }],
    ['{ provider: ollama, name: x }', { provider: 'ollama' }],
    [
      '{ provider: azure, name: x }',
      { provider: 'azure', apiKey: 'z', baseUrl: 'https://r.openai.azure.com/?api-version=2026-01-01' },
    ],
    [
      '{ provider: azure_openai, name: x, endpoint: "https://o/?api-version=1" }',
      { provider: 'azure', apiKey: 'z', baseUrl: 'https://o/?api-version=1' },
    ],
    [
      '{ provider: azure, name: x, base_url: "https://o/?api-version=1" }',
      { provider: 'azure', apiKey: 'z', baseUrl: 'https://o/?api-version=1' },
    ],
  ])('%s finds %j', (line, expected) => {
    expect(model(line)).toEqual(expected)
  })

  test('GOOGLE_API_KEY comes before GEMINI_API_KEY', () => {
    expect(model('{ provider: google, name: x }', { ...env, GOOGLE_API_KEY: 'first' }).apiKey).toBe('first')
  })

  test('stays unset if no variable holds it, so that the model can name the variable', () => {
    expect(
      load('name: a\nmodel: { provider: openai, name: x }\ninstructions: hi', { OPENAI_API_KEY: '' }).model,
    ).not.toHaveProperty('apiKey')
  })

  test('comes from the .env next to the file, but the real environment wins', () => {
    const files = { '/a/.env': 'OPENAI_API_KEY=from-file\n' }
    const yaml = 'name: a\nmodel: { provider: openai, name: x }\ninstructions: hi'
    expect(load(yaml, {}, files).model?.apiKey).toBe('from-file')
    expect(load(yaml, { OPENAI_API_KEY: 'real' }, files).model?.apiKey).toBe('real')
  })

  test('is not enough for azure, which also needs an address', () => {
    expect(mistakes('name: a\nmodel: { provider: azure, name: x }\ninstructions: hi')).toEqual([
      'agent.yaml:2:1 model.base_url: provider azure needs its endpoint. Set AZURE_OPENAI_ENDPOINT=https://my-resource.openai.azure.com or write base_url: https://my-resource.openai.azure.com',
    ])
    expect(
      mistakes('name: a\nmodel: { provider: azure, name: x }\ninstructions: hi', { AZURE_OPENAI_ENDPOINT: 'r' }),
    ).toEqual([
      'agent.yaml:2:1 model.base_url: AZURE_OPENAI_ENDPOINT is not an http or https address. Set AZURE_OPENAI_ENDPOINT=https://my-resource.openai.azure.com or write base_url: https://my-resource.openai.azure.com',
    ])
  })
})

describe('variables', () => {
  test('are replaced after parsing, so that they cannot add keys', () => {
    const agent = load('name: a\nmodel: { provider: demo }\ninstructions: ${TEXT}', { TEXT: 'x\ndefault: true\n# "' })
    expect([agent.instructions, agent.default]).toEqual(['x\ndefault: true\n# "', false])
  })

  test('become numbers and booleans if the key expects one, and stay text otherwise', () => {
    const agent = load(
      `name: a
default: \${YES}
model: { provider: openai, name: "\${NUMBER}", temperature: "\${NUMBER}", token_timeout: "\${NUMBER}" }
instructions: \${NUMBER}`,
      { YES: 'true', NUMBER: '1' },
    )
    expect([
      agent.default,
      agent.model?.name,
      agent.model?.temperature,
      agent.model?.tokenTimeoutMs,
      agent.instructions,
    ]).toEqual([true, '1', 1, 1000, '1'])
  })

  test('that are missing are all reported, together with the other mistakes', () => {
    expect(
      mistakes('name: ${NAME}\nmodel: { provider: demo, temperature: "${HEAT}" }\ninstructions: hi\ncolour: red\n'),
    ).toEqual([
      'agent.yaml:1:7 name: the environment variable NAME is not set. Set it, put NAME=… into .env next to this file, or write ${NAME:-default} ($${NAME} for the literal text).',
      'agent.yaml:2:39 model.temperature: the environment variable HEAT is not set. Set it, put HEAT=… into .env next to this file, or write ${HEAT:-default} ($${HEAT} for the literal text).',
      'agent.yaml:4:1 colour: unknown key. Known keys here: name, description, author, default, model, host, instructions, tools, skills, response_format, limits, context, sessions, approval, memory, judge, suggestions, schedules, test_cases.',
    ])
  })

  test('are never repeated in a message', () => {
    const env = { SECRET: 'hunter2' }
    const found = mistakes(
      'name: ${SECRET}!\nmodel: { provider: "${SECRET}", temperature: "${SECRET}" }\ninstructions: hi',
      env,
    )
    expect(found).toHaveLength(3)
    expect(found.join('\n')).not.toContain('hunter2')
    expect(found[2]).toBe(
      'agent.yaml:2:46 model.temperature: expected a number between 0 and 2, found a value that is not shown here. Write e.g. temperature: 0.7',
    )
  })

  test('are not repeated by checks that look inside a value', () => {
    const lines =
      withLines(`response_format: { type: object, properties: { a: { type: integer, default: "\${SECRET}" } } }
test_cases: [{ name: t, input: hi, regex: "(\${SECRET}" }]`)
    expect(mistakes(lines, { SECRET: 'hunter2' })).toEqual([
      'agent.yaml:4:77 response_format.properties.a.default: the default a value that is not shown here does not fit its own type or enum.',
      'agent.yaml:5:43 test_cases[0].regex: a value that is not shown here is not a regular expression (Unterminated group). Fix it.',
    ])
  })

  test('are not repeated if an alias carries them to another key', () => {
    const yaml =
      'name: a\nmodel: { provider: openai, name: m, api_key: &key "${SECRET}", base_url: *key }\ninstructions: hi'
    expect(mistakes(yaml, { SECRET: 'hunter2' })).toEqual([
      'agent.yaml:2:74 model.base_url: expected an http or https URL, found a value that is not shown here. Write e.g. base_url: http://127.0.0.1:11434/v1',
    ])
  })

  test('need quotes inside { }, and the message says so', () => {
    expect(mistakes('name: a\nmodel: { provider: demo, api_key: ${KEY} }\ninstructions: hi', { KEY: 'k' })).toEqual([
      'agent.yaml:2:36: inside { } and [ ] a variable needs quotes. Write "${NAME}"',
    ])
  })

  test('a mistake in .env is reported with its own file', () => {
    expect(mistakes(minimal, {}, { '/a/.env': 'OK=1\nnonsense\n' })).toEqual([
      '.env:2:1: expected NAME=value or a # comment.',
    ])
  })
})

describe('a wrong value', () => {
  test.each([
    [
      'name: 9lives',
      '1:7 name: expected a name of up to 64 letters, digits, _ and - that begins with a letter, found "9lives". Write e.g. name: assistant',
    ],
    [
      'name: 12',
      '1:7 name: expected a name of up to 64 letters, digits, _ and - that begins with a letter, found 12. Write e.g. name: assistant',
    ],
    ['default: yes', '1:10 default: expected true or false, found "yes". Write e.g. default: true'],
    ['description: 5', '1:14 description: expected text, found 5. Write e.g. description: "5"'],
    [
      'model: gpt',
      '1:8 model: expected keys with values, found "gpt". Write e.g. model: { provider: openai, name: gpt-5-mini }',
    ],
    [
      'model:',
      '1:1 model: expected keys with values, found nothing. Write e.g. model: { provider: openai, name: gpt-5-mini }',
    ],
    [
      'model: {}',
      '1:1 model.provider: this key is missing; expected one of demo, openai, anthropic, google, gemini, azure, azure_openai, ollama, ai-sdk, scripted. Write e.g. provider: openai',
    ],
    [
      'model: { provider: opnai, name: x }',
      '1:20 model.provider: expected one of demo, openai, anthropic, google, gemini, azure, azure_openai, ollama, ai-sdk, scripted, found "opnai". Did you mean openai?',
    ],
    [
      'model: { provider: openai }',
      '1:1 model.name: provider openai needs the name of a model. Write e.g. name: gpt-5-mini',
    ],
    [
      'model: { provider: ai-sdk, name: x }',
      '1:1 model.package: provider ai-sdk needs the npm package of the provider. Write e.g. package: "@ai-sdk/mistral"',
    ],
    [
      'model: { provider: demo, package: x }',
      '1:35 model.package: provider demo does not use a package. Remove it, or write provider: ai-sdk',
    ],
    [
      'model: { provider: scripted }',
      '1:1 model.script: provider scripted needs a script file. Write e.g. script: script.yaml',
    ],
    [
      'model: { provider: demo, script: x }',
      '1:34 model.script: provider demo does not use a script. Remove it, or write provider: scripted',
    ],
    [
      'model: { provider: scripted, script: no.yaml }',
      '1:38 model.script: no.yaml: there is no such file. Paths are relative to this file.',
    ],
    [
      'model: { provider: demo, temperature: 2.1 }',
      '1:39 model.temperature: expected a number between 0 and 2, found 2.1. Write e.g. temperature: 0.7',
    ],
    [
      'model: { provider: demo, temperature: .nan }',
      '1:39 model.temperature: expected a number between 0 and 2, found NaN. Write e.g. temperature: 0.7',
    ],
    [
      'model: { provider: demo, max_tokens: 1.5 }',
      '1:38 model.max_tokens: expected a whole number of at least 1, found 1.5. Write e.g. max_tokens: 2000',
    ],
    [
      'model: { provider: demo, max_tokens: 10, context_window: 10 }',
      '1:38 model.max_tokens: an answer of 10 tokens leaves no room for the request in a context window of 10. Lower max_tokens, or raise context_window',
    ],
    [
      'model: { provider: demo, base_url: "ftp://u:pw@x" }',
      '1:36 model.base_url: expected an http or https URL, found "ftp://…@x". Write e.g. base_url: http://127.0.0.1:11434/v1',
    ],
    [
      'model: { provider: demo, api_key: 12345 }',
      '1:35 model.api_key: expected text, found a value that is not shown here. Write e.g. api_key: "${OPENAI_API_KEY}"',
    ],
    [
      'model: { provider: demo, proxy: "socks5://me:secret@proxy.test" }',
      '1:33 model.proxy: this is not an http or https proxy address. Write e.g. proxy: http://proxy.example.com:3128',
    ],
    [
      'model: { provider: demo, tls: { cert: client.pem } }',
      '1:26 model.tls.key: tls.cert needs tls.key too. Write e.g. key: client-key.pem',
    ],
    [
      'model: { provider: demo, retries: 11 }',
      '1:35 model.retries: expected a whole number between 0 and 10, found 11. Write e.g. retries: 2',
    ],
    [
      'model: { provider: demo, token_timeout: soon }',
      '1:41 model.token_timeout: expected seconds, or a time such as "30s", "15m" or "2h", at most 24 days, found "soon". Write e.g. token_timeout: 30s',
    ],
    [
      'model: { provider: demo, prices: { input: 1 } }',
      '1:26 model.prices.output: this key is missing; expected a number of at least 0. Write e.g. output: 2',
    ],
    [
      'model: { provider: demo, fallback: { provider: demo, fallback: {} } }',
      '1:54 model.fallback.fallback: unknown key. It belongs under model.',
    ],
    [
      'model: { provider: demo, fallback: { provider: google } }',
      '1:26 model.fallback.name: provider google needs the name of a model. Write e.g. name: gemini-2.5-flash',
    ],
    [
      'instructions: ""',
      '1:15 instructions: expected text, or one of the keys inline and file, found "". Write e.g. instructions: { inline: You are a helpful assistant. }',
    ],
    [
      'instructions: {}',
      '1:15 instructions: expected exactly one of inline and file, found neither. Write e.g. instructions: { inline: You are a helpful assistant. }',
    ],
    [
      'instructions: { inline: a, file: b }',
      '1:15 instructions: expected exactly one of inline and file, found both. Write e.g. instructions: { inline: You are a helpful assistant. }',
    ],
    ['instructions: { fiel: b }', '1:17 instructions.fiel: unknown key. Did you mean file?'],
    [
      'instructions: { file: no.md }',
      '1:23 instructions.file: no.md: there is no such file. Paths are relative to this file.',
    ],
    ['instructions: { file: empty.md }', '1:23 instructions.file: empty.md is empty. Write the instructions into it.'],
    [
      'instructions: [a]',
      '1:15 instructions: expected text, or one of the keys inline and file, found a list. Write e.g. instructions: { inline: You are a helpful assistant. }',
    ],
    [
      'response_format: { type: json_schema, json_schema: {} }',
      '1:18 response_format: expected a JSON Schema, found keys (type, json_schema). Write e.g. response_format: { type: object, properties: { answer: { type: string } }, required: [ answer ] }',
    ],
    [
      'response_format: { type: object, propertys: {} }',
      '1:45 response_format.propertys: JSON Schema has no keyword propertys. Did you mean properties?',
    ],
    ['temperature: 1', '1:1 temperature: unknown key. It belongs under model.'],
    [
      'model: { provider: demo, instructions: x }',
      '1:26 model.instructions: unknown key. It belongs at the top level of the file.',
    ],
    [
      'model: { provider: azure_openai, name: x, base_url: https://a, endpoint: https://b }',
      '1:74 model.endpoint: endpoint means the same as base_url. Keep one of them.',
    ],
    ['limits: { step: 5 }', '1:11 limits.step: unknown key. Did you mean steps?'],
    [
      'limits: { cost: 1 }',
      '1:17 limits.cost: a cost limit needs model.prices. Write e.g. prices: { input: 0.25, output: 2 }',
    ],
    [
      'limits: { duration: 40d }',
      '1:21 limits.duration: expected seconds, or a time such as "30s", "15m" or "2h", at most 24 days, found "40d". Write e.g. duration: 15m',
    ],
    [
      'sessions: { on_busy: wait }',
      '1:22 sessions.on_busy: expected one of queue, reject, interrupt, found "wait". Write e.g. on_busy: queue',
    ],
    [
      'approval: []',
      '1:11 approval: expected keys with values, found an empty list. Write e.g. approval: { default: always }',
    ],
    [
      'tools: [{ type: client, name: 1t, description: Ten letters at least. }]',
      '1:31 tools[0].name: expected a name of letters, digits and _ that does not begin with a digit, found "1t". Write e.g. name: get_weather',
    ],
    [
      'tools: [{ type: client, name: t, description: short }]',
      '1:47 tools[0].description: expected text of at least 10 characters, found "short". Write e.g. description: Current weather for a city.',
    ],
    [
      '__proto__: { a: 1 }',
      '1:1 __proto__: unknown key. Known keys here: name, description, author, default, model, host, instructions, tools, skills, response_format, limits, context, sessions, approval, memory, judge, suggestions, schedules, test_cases.',
    ],
  ])('%s is explained', (line, expected) => {
    const key = line.slice(0, line.indexOf(':'))
    const others = ['name: a', 'model: { provider: demo }', 'instructions: hi'].filter(
      (other) => !other.startsWith(`${key}:`),
    )
    const found = mistakes([line, ...others].join('\n'), {}, { '/a/empty.md': ' \n' })
    expect(found.map((one) => one.replaceAll('/a/', ''))).toEqual([`agent.yaml:${expected}`])
  })

  test('does not hide the next one: all are reported in the order of the file', () => {
    const yaml = `name: my agent
model:
  provider: openai
  temperature: hot
  temprature: 1
  name: gpt
instructions: {}
tools:
  - { type: htp, name: x, description: Ten letters at least. }
  - 3
limits: { steps: 0, duration: -1 }
`
    expect(
      mistakes(yaml).map(
        (line) => line.split(':', 3).join(':') + line.slice(line.indexOf(' '), line.indexOf(':', line.indexOf(' '))),
      ),
    ).toEqual([
      'agent.yaml:1:7 name name',
      'agent.yaml:4:16 model.temperature model.temperature',
      'agent.yaml:5:3 model.temprature model.temprature',
      'agent.yaml:7:15 instructions instructions',
      'agent.yaml:9:13 tools[0].type tools[0].type',
      'agent.yaml:10:5 tools[1] tools[1]',
      'agent.yaml:11:18 limits.steps limits.steps',
      'agent.yaml:11:31 limits.duration limits.duration',
    ])
  })

  test('two tools with the same name are refused', () => {
    const tool = '{ type: client, name: t, description: Ten letters at least. }'
    expect(mistakes(withLines(`tools:\n  - ${tool}\n  - ${tool}`))).toEqual([
      'agent.yaml:6:27 tools[1].name: tools[0] already has the name t. Give each tool its own name.',
    ])
  })
})

describe('a file that is not an agent', () => {
  const starter = '{ name: assistant, model: { provider: demo }, instructions: You are a helpful assistant. }'
  test.each([
    ['', `1:1: the file is empty. Write e.g. ${starter}`],
    ['# only a comment\n', `1:1: the file is empty. Write e.g. ${starter}`],
    ['- a\n- b', `1:1: expected keys with values at the top, found a list. Write e.g. ${starter}`],
    ['hello', `1:1: expected keys with values at the top, found a single value. Write e.g. ${starter}`],
    ['name: a\nname: b', '2:1: this key appears twice. Keep one of them.'],
    ['model:\n\tprovider: demo', '2:1: YAML does not allow tabs for indentation. Use spaces.'],
    ['name: a\n---\nname: b', '2:1: a second document starts here (---). Keep one document per file.'],
    [
      'description: this: that',
      '1:14: this value contains ": ", or a line near it has the wrong indentation. Put the value in quotes, or align the keys.',
    ],
    ['name: `a`', '1:7: a value cannot start with ` here. Put it in quotes.'],
    [
      'name: "a',
      '1:9: this is not valid YAML: Missing closing "quote. Check the indentation and the quotes around here.',
    ],
    ['name: !secret a', '1:7: Unresolved tag: !secret. Remove the tag.'],
    ['name: *a', '1:7 name: the alias *a has no anchor &a before it. Add the anchor, or write the value out.'],
    ['model: &m { fallback: *m }', '1:23 model.fallback: the alias *m contains itself. Write the value out.'],
    ['? [a]\n: b', '1:3: a key must be text. Write key: value'],
  ])('%j is explained', (yaml, expected) => {
    expect(mistakes(yaml)).toEqual([`agent.yaml:${expected}`])
  })

  test('aliases that expand without end are refused quickly', () => {
    const levels = 'abcdefghij'.split('')
    const bomb = levels.map(
      (name, index) => `${name}: &${name} [${Array(9).fill(index === 0 ? 'lol' : `*${levels[index - 1]}`)}]`,
    )
    expect(mistakes(bomb.join('\n'))).toEqual([
      'agent.yaml:2:8: the aliases (*name) in this file expand to too many values. Write the values out.',
    ])
  })

  test.each(['[', '{', '- ', '{a: '])('50,000 times %j is refused', (open) => {
    const found = mistakes(`name: ${open.repeat(50_000)}`)
    expect(found.length).toBeGreaterThan(0)
    expect(found.length).toBeLessThanOrEqual(10)
  })

  test('a file that cannot be read says why', () => {
    const check = (files: Record<string, string | Uint8Array>) =>
      checkAgent('/a/agent.yaml', { env: {}, files: createMemoryFiles(files) }).issues.map(formatIssue)
    expect(check({})).toEqual([
      '/a/agent.yaml: there is no such file. Check the path, or create an agent with: quarterdeck init',
    ])
    expect(check({ '/a/agent.yaml': new Uint8Array([0xff]) })).toEqual(['/a/agent.yaml: it is not UTF-8 text.'])
  })

  test('any file content gives an agent or issues with a place', () => {
    const yamlish = fc.array(
      fc.constantFrom(
        'name',
        'model',
        ': ',
        '\n',
        '  ',
        '- ',
        '{',
        '}',
        '[',
        ']',
        '&a ',
        '*a',
        '"',
        "'",
        '${',
        '}',
        'demo',
        '|\n',
        '#',
        '\t',
        '? ',
        '!x ',
        '1',
        'é',
        '\u0000',
      ),
      { maxLength: 40 },
    )
    fc.assert(
      fc.property(yamlish, (parts) => {
        const { agent, issues } = checkAgent('/a/agent.yaml', {
          env: {},
          files: createMemoryFiles({ '/a/agent.yaml': parts.join('') }),
        })
        expect(agent).toBeNull()
        for (const issue of issues) {
          expect(issue).toMatchObject({ file: '/a/agent.yaml', line: expect.any(Number), column: expect.any(Number) })
        }
        expect(issues.length).toBeGreaterThan(0)
      }),
      { numRuns: runs(500) },
    )
  })
})

test('loadAgent throws one ConfigError that lists all issues as data and as lines', () => {
  const attempt = () => load('name: 1\nmodel: { provider: demo }\n')
  expect(attempt).toThrow(ConfigError)
  try {
    attempt()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    expect(error).toBeInstanceOf(ServerError)
    const issues = [
      {
        file: '/a/agent.yaml',
        line: 1,
        column: 1,
        path: 'instructions',
        message: 'this key is missing. Write e.g. instructions: { inline: You are a helpful assistant. }',
      },
      {
        file: '/a/agent.yaml',
        line: 1,
        column: 7,
        path: 'name',
        message:
          'expected a name of up to 64 letters, digits, _ and - that begins with a letter, found 1. Write e.g. name: assistant',
      },
    ]
    expect({ code: error.code, issues: error.issues, details: error.details, message: error.message }).toEqual({
      code: 'config_invalid',
      issues,
      details: { issues },
      message: issues.map(formatIssue).join('\n'),
    })
  }
})
