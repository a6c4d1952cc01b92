// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is the syntax of our files.

import { describe, expect, test } from 'vitest'
import { readAgent } from '../agent/read-agent.ts'
import { isSecretName } from './bound-settings.ts'

type Env = Readonly<Record<string, string>>

/** What approvals are bound to, for a file with one tool. */
function boundOf(tool: Record<string, unknown>, env: Env = {}): unknown {
  const text = JSON.stringify({ name: 'a', model: { provider: 'demo' }, instructions: 'x', tools: [tool] })
  const files = {
    read: (path: string) => Buffer.from(path.endsWith('.env') ? '' : text),
    list: () => null,
    realPath: (path: string) => path,
  }
  const { agent, issues } = readAgent('/a/agent.yaml', { env, files })
  expect(issues).toEqual([])
  const [settings] = agent?.tools ?? []
  return settings !== undefined && 'bound' in settings ? settings.bound : undefined
}

const http = (more: Record<string, unknown>) => ({
  type: 'http',
  name: 'call',
  description: 'Calls a service.',
  method: 'POST',
  parameters: { A: { type: 'string' }, REGION: { type: 'string' } },
  url: 'https://x.example/',
  ...more,
})
const mcp = (more: Record<string, unknown>) => ({ type: 'mcp', name: 'files', command: 'npx', ...more })

describe('an approval is bound to', () => {
  test('the names of variables in headers and bodies, anywhere in the text', () => {
    const tool = http({
      headers: { Authorization: 'Bearer ${API_KEY}', 'X-Both': '${A}-${B}' },
      body: { deep: ['a ${NOTE} b'], plain: 1 },
    })
    const bound = {
      url: 'https://x.example/',
      headers: {
        authorization: { text: ['Bearer ', { variable: 'API_KEY' }] },
        'x-both': { text: [{ variable: 'A' }, '-', { variable: 'B' }] },
      },
      body: { object: { deep: { list: [{ text: ['a ', { variable: 'NOTE' }, ' b'] }] }, plain: 1 } },
    }
    expect(boundOf(tool, { API_KEY: '1', A: '2', B: '3', NOTE: '4' })).toEqual(bound)
    expect(boundOf(tool, { API_KEY: '5', A: '6', B: '7', NOTE: '8' })).toEqual(bound)
  })

  test('the values of variables in a URL, unless the name says that it is a secret', () => {
    const tool = http({ url: 'https://${HOST}/bot${BOT_TOKEN}/send?key=${API_KEY}' })
    expect(boundOf(tool, { HOST: 'x.example', BOT_TOKEN: 't', API_KEY: 'k' })).toMatchObject({
      url: { text: ['https://x.example/bot', { variable: 'BOT_TOKEN' }, '/send?key=', { variable: 'API_KEY' }] },
    })
  })

  test('the text of a default, or the name of the variable if it is set', () => {
    const tool = http({ body: { region: '${REGION:-eu}', text: '$${REGION}' } })
    expect(boundOf(tool)).toMatchObject({ body: { object: { region: 'eu', text: '${REGION}' } } })
    expect(boundOf(tool, { REGION: 'us' })).toMatchObject({
      body: { object: { region: { text: [{ variable: 'REGION' }] }, text: '${REGION}' } },
    })
  })

  test('variables that no plain data in a file can imitate', () => {
    const variable = boundOf(http({ body: { a: '${A}' } }), { A: 'x' })
    for (const a of [
      [{ variable: 'A' }],
      { text: [{ variable: 'A' }] },
      { object: { text: [{ variable: 'A' }] } },
      '$${A}',
    ]) {
      expect(boundOf(http({ body: { a } }))).not.toEqual(variable)
    }
  })

  test('no key that is written in the file itself', () => {
    const keyed = (key: string) => boundOf(http({ headers: { 'X-Api-Key': key, Cookie: key, 'X-Tenant': 'a' } }))
    expect(keyed('one')).toEqual(keyed('two'))
    expect(keyed('one')).toMatchObject({ headers: { 'x-tenant': 'a' } })
  })

  test('a header that says who or what is meant, even if its name contains auth', () => {
    const role = (value: string) => boundOf(http({ headers: { 'X-Auth-Role': value } }))
    expect(role('reader')).not.toEqual(role('admin'))
  })

  test('the arguments of a program, and the names of its environment variables', () => {
    const tool = mcp({
      args: ['--root', '${ROOT}', '--token=${TOKEN}'],
      env: { KEY: '${TOKEN}', MODE: 'fast' },
    })
    expect(boundOf(tool, { ROOT: '/data', TOKEN: 't' })).toEqual({
      command: 'npx',
      directory: '/a',
      args: { list: ['--root', '/data', { text: ['--token=', { variable: 'TOKEN' }] }] },
      env: { KEY: ['TOKEN'], MODE: [] },
    })
  })

  test('the URL and headers of a remote server', () => {
    const { command: _, ...far } = mcp({ url: 'https://m.example/mcp', headers: { Authorization: 'Bearer ${KEY}' } })
    expect(boundOf(far, { KEY: 'k' })).toEqual({
      url: 'https://m.example/mcp',
      headers: { authorization: { text: ['Bearer ', { variable: 'KEY' }] } },
    })
  })
})

test.each([
  ...['API_KEY', 'KEY', 'OPENAI_APIKEY', 'GITHUB_TOKEN', 'DB_PASSWORD', 'DB_PASS', 'AUTH', 'CLIENT_SECRET_2'],
  ...['GITHUB_PAT', 'PASSWD', 'CREDENTIALS', 'x-api-key', 'API_KEYS', 'API_KEY_PROD'],
])('%s names a secret', (name) => expect(isSecretName(name)).toBe(true))

test.each([
  ...['HOST', 'MONKEY', 'KEYBOARD', 'AUTHOR', 'PATH', 'PASSAGE', 'TOKENIZER', 'COMPASS_URL', 'SERVICE'],
  ...['AUTH_URL', 'TOKEN_ENDPOINT', 'X-Auth-Role', 'X-Auth-User', 'SECRET_FILE', 'KEY_ID'],
])('%s does not name a secret', (name) => expect(isSecretName(name)).toBe(false))
