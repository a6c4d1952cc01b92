// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is the syntax of our files.

import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkAgent } from '../agent/load-agents.ts'
import { maskedSource } from '../agent/masked-source.ts'
import { formatIssue } from '../config-error.ts'
import { agentDefaults } from '../source/load-context.ts'
import { type LoadInput, loadLines, mistakesIn } from '../testing/load-lines.ts'

const files = { '/a/handbook/leave.md': '', '/a/faq.pdf': '', '/b/x.md': '' }

const knowledgeOf = (keys: string, input: LoadInput = {}) =>
  loadLines(`tools: [{ type: knowledge, name: docs, ${keys} }]`, { files, ...input }).tools[0]

/** Mistakes in a file with one tool, written on line 4. */
const mistakes = (keys: string, input: LoadInput = {}) =>
  mistakesIn(`tools: [{ type: knowledge, name: docs, ${keys} }]`, { files, ...input })

const plain = {
  type: 'knowledge',
  name: 'docs',
  description: null,
  sources: ['./handbook'],
  directory: '/a',
  folders: [expect.any(String)],
  ignore: [],
  embedding: null,
  effect: 'read',
  risk: 'low',
  timeoutMs: 60_000,
  retries: 0,
  approval: { ask: 'never' },
  predictState: [],
}

describe('a knowledge tool', () => {
  test('needs a source and nothing else', () => {
    expect(knowledgeOf('source: ./handbook')).toEqual(plain)
  })

  test('may have several sources, rules, and lines of a .gitignore', () => {
    const keys =
      'source: ["handbook/**/*.md", faq.pdf, .], ignore: ["drafts/"], approval: always, timeout: 5s, risk: high'
    expect(knowledgeOf(keys)).toEqual({
      ...plain,
      sources: ['handbook/**/*.md', 'faq.pdf', '.'],
      ignore: ['drafts/'],
      approval: { ask: 'always' },
      timeoutMs: 5_000,
      risk: 'high',
    })
  })

  test.each([
    ['name: x', /source/],
    ['source: []', /expected a folder, a file or a glob, or several of them/],
    ['source: ./handbook, effect: once', /A search changes nothing/],
    ['source: ./handbook, retries: 2', /A search is not repeated/],
    [
      'source: ./handbok',
      /\/handbok: there is no such file or folder\. Paths are relative to this file\.|handbok: there is no such/,
    ],
    ['source: [., nowhere.md]', /tools\[0\]\.source\[1\].*there is no such file or folder/],
    ['source: "handbook/*/../../.."', /a glob cannot go up/],
  ])('is refused with %s', (keys, message) => {
    expect(mistakes(keys.replace('name: x', 'description: Ten letters and more.')).join('\n')).toMatch(message)
  })

  test('may name a glob that matches nothing yet, with a warning', () => {
    const warnings: string[] = []
    const text =
      'name: a\nmodel: { provider: demo }\ninstructions: x\ntools: [{ type: knowledge, name: d, source: later/*.md }]'
    const source = { read: () => Buffer.from(text), list: () => null, realPath: (path: string) => path }
    const noEnv = { ...source, read: (path: string) => Buffer.from(path.endsWith('.env') ? '' : text) }
    checkAgent('/a/agent.yaml', { env: {}, files: noEnv, warn: (one) => warnings.push(formatIssue(one)) })

    expect(warnings).toEqual([
      '/a/agent.yaml:4:45 tools[0].source: /a/later: there is no such folder, so nothing matches yet.',
    ])
  })
})

describe('an embedding', () => {
  const embeddingOf = (keys: string, input: LoadInput = {}) => {
    const tool = knowledgeOf(`source: ., embedding: { ${keys} }`, input)
    return tool?.type === 'knowledge' ? tool.embedding : null
  }
  const basic = { retries: 2, connectTimeoutMs: 10_000, dimensions: null, price: null }

  test.each([
    ['openai', { OPENAI_API_KEY: 'k' }, 'openai', 'text-embedding-3-small'],
    ['google', { GEMINI_API_KEY: 'k' }, 'google', 'gemini-embedding-001'],
    ['gemini', { GOOGLE_API_KEY: 'k' }, 'google', 'gemini-embedding-001'],
  ])('of %s has a usual model, and finds its key', (written, env, provider, name) => {
    expect(embeddingOf(`provider: ${written}`, { env })).toEqual({ ...basic, provider, name, apiKey: 'k' })
  })

  test('of Ollama and the demo need no key', () => {
    expect(embeddingOf('provider: ollama')).toEqual({ ...basic, provider: 'ollama', name: 'nomic-embed-text' })
    expect(embeddingOf('provider: demo')).toEqual({ ...basic, provider: 'demo', name: 'demo' })
  })

  test('has the keys of a model that reach its server', () => {
    const env = {
      AZURE_OPENAI_ENDPOINT: 'https://x.openai.azure.com',
      AZURE_OPENAI_API_KEY: 'k',
      HTTPS_PROXY: 'http://p:1',
    }
    const keys =
      'provider: azure_openai, name: emb, dimensions: 256, price: 0.02, proxy: none, retries: 0, connect_timeout: 1s'
    expect(embeddingOf(keys, { env })).toEqual({
      provider: 'azure',
      name: 'emb',
      baseUrl: 'https://x.openai.azure.com',
      apiKey: 'k',
      retries: 0,
      connectTimeoutMs: 1_000,
      proxy: false,
      proxyVariables: { HTTPS_PROXY: 'http://p:1' },
      dimensions: 256,
      price: 0.02,
    })
  })

  test.each([
    [
      'provider: anthropic',
      /expected one of openai, azure, google, ollama, ai-sdk, demo \(Anthropic has no embeddings\), found "anthropic"/,
    ],
    [
      'provider: azure, base_url: "https://x.test"',
      /provider azure needs the name of an embedding model here\. Write e\.g\. name: my-deployment/,
    ],
    ['provider: openai, base_url: "http://127.0.0.1:1/v1"', /provider openai needs the name/],
    ['provider: ai-sdk, name: x', /needs the npm package/],
    ['provider: demo, package: x', /provider demo does not use a package/],
    ['provider: openai, proxy: "socks5://x"', /this is not an http or https proxy address/],
    [
      'provider: openai, endpoint: "http://a/v1", base_url: "http://a/v1", name: x',
      /endpoint means the same as base_url/,
    ],
    ['provider: openai, tls: { cert: faq.pdf }', /tls\.cert needs tls\.key too/],
    ['provider: openai, temperature: 1', /unknown key/],
  ])('is refused with %s', (keys, message) => {
    expect(mistakes(`source: ., embedding: { ${keys} }`).join('\n')).toMatch(message)
  })

  test('never shows its key, neither in a message nor in the source of the agent', () => {
    const keys = 'source: ., embedding: { provider: openai, api_key: [sk-secret-1] }'
    expect(mistakes(keys).join('\n')).not.toContain('sk-secret')
    const text = `tools:\n  - type: knowledge\n    embedding: { provider: openai, api_key: sk-secret-1 }\n`
    expect(maskedSource(text)).toBe(text.replace('sk-secret-1', '[masked]'))
  })
})

describe('a source outside of the agent’s folder', () => {
  let root = ''
  beforeAll(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'knowledge-source-')))
    for (const folder of ['agent', 'handbook/leave', 'other']) await mkdir(join(root, folder), { recursive: true })
    await writeFile(join(root, 'handbook/a.md'), '')
    await symlink(join(root, 'handbook'), join(root, 'agent/link'))
  })
  afterAll(() => rm(root, { recursive: true }))

  async function issues(source: string, knowledgeFolders: string[] = []): Promise<string[]> {
    const path = join(root, 'agent/agent.yaml')
    const tool = JSON.stringify({ type: 'knowledge', name: 'd', source })
    await writeFile(path, `name: a\nmodel: { provider: demo }\ninstructions: x\ntools: [${tool}]`)
    const { issues } = checkAgent(path, { env: {}, defaults: { ...agentDefaults, knowledgeFolders } })
    return issues.map(({ message }) => message.replaceAll(root, ''))
  }
  const refused = (place: string, folder = place) => [
    `${place} is outside of this agent’s folder. To let agents read it, write in quarterdeck.yaml: knowledge: { folders: [ ${folder} ] }`,
  ]

  test.each([
    ['a path', '../handbook', refused('/handbook')],
    ['a file', '../handbook/a.md', refused('/handbook/a.md', '/handbook')],
    ['a glob', '../handbook/*/*.md', refused('/handbook')],
    ['a glob that begins far above', '../*/a.md', refused('')],
    ['a link', 'link', refused('/handbook')],
    ['a glob below a link', 'link/**/*.md', refused('/handbook')],
    ['a glob below what is not there yet', '../later/*.md', refused('/later')],
  ])('is refused: %s', async (_how, source, message) => {
    expect(await issues(source)).toEqual(message)
  })

  test('is allowed by the settings of the server', async () => {
    for (const source of ['../handbook', 'link', '../handbook/**/*.md', join(root, 'handbook/leave')]) {
      expect(await issues(source, [join(root, 'handbook')])).toEqual([])
    }
    expect(await issues('../other', [join(root, 'handbook')])).toEqual(refused('/other'))
    expect(await issues('../handbook', [join(root, 'agent/link')])).toEqual([])
  })
})
