import { writeFile } from 'node:fs/promises'
import type { NetworkInterfaceInfo } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../../app/load-config.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo } from '../../testing/test-io.ts'
import { type BannerFacts, banner, mayAsk, shownUrl } from './banner.ts'

const AGENT = 'model: { provider: demo }\ninstructions: You help.\n'
const PAGE = 'type: http, name: page, description: Reads a page of ours., method: GET, url: "https://example.com/"'

async function load(text: string) {
  const cwd = await tempFolder()
  await writeFile(join(cwd, 'helper.yaml'), `name: helper\ndescription: Helps with everything else.\n${AGENT}`)
  await writeFile(join(cwd, 'agent.yaml'), `name: clerk\n${AGENT}${text}`)
  return loadConfig({ files: ['agent.yaml'], flags: {} }, createTestIo({ cwd })).agents
}

async function rows(text: string, more: Partial<BannerFacts> = {}): Promise<string[]> {
  const facts: BannerFacts = {
    version: '1.2.3',
    url: 'http://127.0.0.1:8000',
    console: null,
    agents: await load(text),
    unconfined: [],
    protocols: [],
    keptIn: '/data',
    token: null,
    tokenRequired: false,
    operator: 'kept',
    dataDirFlag: ' --data-dir data',
    hasEnter: false,
    readyMs: 100,
    ...more,
  }
  const shown = banner(facts, createTestIo({ program: 'npx quarterdeck' })).split('\n')
  return shown.slice(
    4,
    shown.findIndex((line) => line.includes('Health')),
  )
}

describe('the banner', () => {
  test('lists the agents with their tools, and leaves out approvals if no tool needs one', async () => {
    expect(
      await rows(`tools:
  - { ${PAGE}, effect: read }
  - { type: agent, name: ask_helper, agent: helper.yaml, approval: never }
  - { type: mcp, name: files, command: files-server, approval: never }
`),
    ).toEqual([
      '  Agent       clerk: demo/demo, 2 tools, 1 MCP server',
      '  Sessions    http://127.0.0.1:8000/sessions/{id}/messages',
    ])
  })

  test('says where approvals and the operator’s token are, if a tool may need approval', async () => {
    const agent = `tools: [{ ${PAGE}, effect: once }]\n`
    const approvals = '  Approvals   http://127.0.0.1:8000/approvals'

    const where = async (operator: BannerFacts['operator']) => {
      const [first, second = ''] = (await rows(agent, { operator })).slice(2)
      expect(first).toBe(approvals)
      return second.replace('              to decide, the operator’s token: ', '')
    }
    expect([await where('set'), await where('made'), await where('kept'), await where('none')]).toEqual([
      'the one in auth.operator_token',
      'shown below, only this time',
      'the one shown when it was created. If it is lost, stop the server and run npx quarterdeck tokens create --role operator --data-dir data',
      'there is none yet. Stop the server and run npx quarterdeck tokens create --role operator --data-dir data',
    ])
  })
})

test('the banner names the ways of coding agents and their operator, if both can be used', async () => {
  const mcp = { protocols: ['mcp'] }
  expect((await rows('', mcp)).slice(1, -1)).toEqual([
    '  MCP         http://127.0.0.1:8000/mcp',
    '              to connect a coding agent: npx quarterdeck connect claude --url http://127.0.0.1:8000',
    '              to answer it: npx quarterdeck ctl watch --data-dir data',
  ])
  expect((await rows('', { ...mcp, operator: 'none' })).slice(1, -1)).toEqual([])
  expect((await rows('')).slice(1, -1)).toEqual([])
})

describe('the banner in a terminal', () => {
  const facts: BannerFacts = {
    version: '1.2.3',
    url: 'http://127.0.0.1:8000',
    console: 'http://localhost:8000/console#code=one-time-code',
    agents: [],
    unconfined: [],
    protocols: ['ag-ui', 'openai'],
    keptIn: '/data',
    token: null,
    tokenRequired: false,
    operator: 'kept',
    dataDirFlag: ' --data-dir data',
    hasEnter: false,
    readyMs: 100,
  }

  test('names the page to open, the docs and the open doors', () => {
    const lines = banner(facts, createTestIo()).split('\n')
    expect(lines.slice(2, 9)).toEqual([
      '  Open        http://localhost:8000/console#code=one-time-code',
      '  API docs    http://127.0.0.1:8000/docs',
      '',
      '  AG-UI       http://127.0.0.1:8000/',
      '  CopilotKit  http://127.0.0.1:8000/copilotkit  (as runtimeUrl)',
      '  OpenAI      http://127.0.0.1:8000/v1  (as baseURL)',
      '  Sessions    http://127.0.0.1:8000/sessions/{id}/messages',
    ])
    expect(banner({ ...facts, console: null }, createTestIo())).not.toContain('Open  ')
  })

  test('says which hosted agents no sandbox confines', () => {
    expect(banner(facts, createTestIo())).not.toContain('unconfined')
    expect(banner({ ...facts, unconfined: ['coder'] }, createTestIo())).toContain(
      '  coder is unconfined: runs without a sandbox. Its program can write wherever this user can.\n',
    )
  })

  test('fits a narrow terminal without breaking addresses', () => {
    const io = createTestIo({ terminal: true, env: { NO_COLOR: '1' } })
    io.stdout.columns = 40
    const lines = banner({ ...facts, token: 'qd_operator' }, io).split('\n')
    expect(lines.filter((line) => line.length > 40 && !line.includes('http'))).toEqual([])
    expect(lines).toContain('    http://127.0.0.1:8000/sessions/{id}/messages')
  })
})

describe('an agent', () => {
  const asks = async (text: string) => (await load(text)).some(mayAsk)

  test('may ask if one of its rules, or of a tool’s rules, can say so', async () => {
    expect([
      await asks(''),
      await asks(`tools: [{ ${PAGE}, effect: read }]`),
      await asks(`tools: [{ ${PAGE}, effect: read, approval: always }]`),
      await asks(`tools: [{ ${PAGE}, effect: once, approval: never }]`),
      await asks(`approval: { default: risk >= critical }\ntools: [{ ${PAGE}, effect: once }]`),
      await asks(
        `tools: [{ ${PAGE}, effect: read, approval: { when: { x: 1 } }, parameters: { type: object, properties: { x: { type: integer } } } }]`,
      ),
      await asks(
        'tools: [{ type: mcp, name: files, command: x, approval: never, tools: { write: { approval: always } } }]',
      ),
    ]).toEqual([false, false, true, false, false, true, true])
  })
})

const v4 = (address: string, internal: boolean): NetworkInterfaceInfo => ({
  address,
  internal,
  family: 'IPv4',
  netmask: '255.255.255.0',
  mac: '',
  cidr: null,
})

const interfaces = { lo: [v4('127.0.0.1', true)], eth0: [v4('192.168.1.7', false)] }

describe('shownUrl', () => {
  test('replaces 0.0.0.0 and :: by an address of this machine', () => {
    expect(shownUrl('http://0.0.0.0:8000', interfaces)).toBe('http://192.168.1.7:8000')
    expect(shownUrl('https://[::]:8000', interfaces)).toBe('https://192.168.1.7:8000')
    expect(shownUrl('http://0.0.0.0:8000', {})).toBe('http://127.0.0.1:8000')
  })

  test('leaves every other address alone', () => {
    for (const url of ['http://127.0.0.1:8000', 'http://[::1]:8000', 'http://10.0.0.1:8000']) {
      expect(shownUrl(url, interfaces)).toBe(url)
    }
  })
})
