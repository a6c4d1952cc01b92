import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { formatIssue } from '../config-error.ts'
import { createMemoryFiles } from '../testing/memory-files.ts'
import { checkAgents, loadAgent, loadAgents } from './load-agents.ts'

const agent = (name: string, more = '') => `name: ${name}\nmodel: { provider: demo }\ninstructions: Be kind.\n${more}`

const load = (paths: string[], files: Record<string, string>) => {
  const { agents, issues } = checkAgents(paths, { env: {}, files: createMemoryFiles(files) })
  return { agents: agents.map((one) => [one.name, one.default]), issues: issues.map(formatIssue) }
}

describe('several agents', () => {
  test('come from files in the order they are named, and the first is the default', () => {
    expect(load(['/b.yaml', '/a.yaml'], { '/a.yaml': agent('a'), '/b.yaml': agent('b') })).toEqual({
      agents: [
        ['b', true],
        ['a', false],
      ],
      issues: [],
    })
  })

  test('keep the default that one of them sets', () => {
    const files = { '/a.yaml': agent('a'), '/b.yaml': agent('b', 'default: true') }
    expect(load(['/a.yaml', '/b.yaml'], files).agents).toEqual([
      ['a', false],
      ['b', true],
    ])
  })

  test('a file that is given twice is one agent', () => {
    expect(load(['/f/a.yaml', '/f/../f/a.yaml', '/f'], { '/f/a.yaml': agent('a') })).toEqual({
      agents: [['a', true]],
      issues: [],
    })
  })

  test('in a folder are the YAML files that look like agents', () => {
    const files = {
      '/f/b.yml': agent('b'),
      '/f/a.yaml': agent('a'),
      '/f/quarterdeck.yaml': 'port: 1\nmodel: x',
      '/f/compose.yaml': 'services: {}\n',
      '/f/notes.txt': 'model: x',
      '/f/sub/agent.yaml': agent('sub'),
    }
    expect(load(['/f'], files)).toEqual({
      agents: [
        ['a', true],
        ['b', false],
      ],
      issues: [],
    })
  })

  test('in a folder without agents are the agent.yaml files of its subfolders', () => {
    const files = {
      '/f/two/agent.yml': agent('two'),
      '/f/one/agent.yaml': agent('one'),
      '/f/one/other.yaml': agent('other'),
      '/f/node_modules/agent.yaml': agent('dependency'),
      '/f/.git/agent.yaml': agent('hidden'),
    }
    expect(load(['/f'], files)).toEqual({
      agents: [
        ['one', true],
        ['two', false],
      ],
      issues: [],
    })
  })

  test('a broken agent in a folder is reported, not skipped', () => {
    const files = { '/f/a.yaml': 'name: a\nmodel: {\n', '/f/agent.yaml': '- x', '/f/z.yaml': agent('z') }
    const { agents, issues } = load(['/f'], files)
    expect(agents).toEqual([['z', true]])
    expect(issues.map((line) => line.split(': ')[0])).toEqual(['/f/a.yaml:3:1', '/f/agent.yaml:1:1'])
  })

  test('must not share a name or both be the default', () => {
    const files = { '/a.yaml': agent('same', 'default: true'), '/b.yaml': agent('same', 'default: true') }
    expect(load(['/a.yaml', '/b.yaml'], files).issues).toEqual([
      '/b.yaml:1:7 name: /a.yaml already uses the name same. Give each agent its own name.',
      '/b.yaml:4:10 default: /a.yaml is already the default. Keep default: true in only one file.',
    ])
  })

  test('an empty folder and no path at all say what is missing', () => {
    expect(load(['/f'], { '/f/readme.md': '' }).issues).toEqual([
      '/f: this folder has no agent. Looked for *.yaml files with model or instructions, and for agent.yaml in its subfolders. Create one with: quarterdeck init',
    ])
    expect(load([], {}).issues).toEqual(['no agent file was given.'])
  })

  test('the mistakes of all files are thrown together', () => {
    const files = createMemoryFiles({ '/a.yaml': '', '/b.yaml': '' })
    expect(() => loadAgents(['/a.yaml', '/b.yaml', '/c.yaml'], { env: {}, files })).toThrow(
      /^\/a\.yaml:1:1: .*\n\/b\.yaml:1:1: .*\n\/c\.yaml: there is no such file\..*$/,
    )
  })
})

describe('agents that other agents call', () => {
  const calls = (...agents: string[]) =>
    `tools:\n${agents.map((file, index) => `  - { type: agent, name: t${index}, agent: ${file} }\n`).join('')}`
  const described = (name: string, more = '') => agent(name, `description: The ${name} of the house.\n${more}`)

  const linked = (paths: string[], files: Record<string, string>) => {
    const { agents, issues } = checkAgents(paths, { env: {}, files: createMemoryFiles(files) })
    return {
      agents: agents.map(({ name, internal, tools }) => [
        name,
        internal ? 'internal' : 'served',
        ...tools.map((tool) => (tool.type === 'agent' ? tool.agent : '')),
      ]),
      issues: issues.map(formatIssue),
    }
  }

  test('are loaded with them, once each, and are internal', () => {
    const files = {
      '/f/main.yaml': agent('main', calls('parts/tutor.yaml', 'parts/../parts/tutor.yaml', 'parts/planner.yaml')),
      '/f/parts/tutor.yaml': described('tutor', `default: true\n${calls('planner.yaml')}`),
      '/f/parts/planner.yaml': described('planner'),
    }
    expect(linked(['/f/main.yaml'], files)).toEqual({
      agents: [
        ['main', 'served', 'tutor', 'tutor', 'planner'],
        ['tutor', 'internal', 'planner'],
        ['planner', 'internal'],
      ],
      issues: [],
    })
    expect(load(['/f/main.yaml'], files).agents).toEqual([
      ['main', true],
      ['tutor', false],
      ['planner', false],
    ])
  })

  test('are also served if their own files are given, and may call back', () => {
    const files = {
      '/a.yaml': described('a', calls('b.yaml')),
      '/b.yaml': described('b', calls('a.yaml', 'b.yaml')),
    }
    expect(linked(['/a.yaml', '/b.yaml'], files)).toEqual({
      agents: [
        ['a', 'served', 'b'],
        ['b', 'served', 'a', 'b'],
      ],
      issues: [],
    })
    expect(linked(['/b.yaml'], files).agents).toEqual([
      ['b', 'served', 'a', 'b'],
      ['a', 'internal', 'b'],
    ])
  })

  test('bring their own description and time limit, and have no risk of their own', () => {
    const files = createMemoryFiles({
      '/a.yaml': agent(
        'a',
        'tools: [{ type: agent, name: ask, agent: b.yaml }, { type: agent, name: hand, agent: b.yaml, handoff: true, ' +
          'description: Takes over from here., effect: read, approval: always }, { type: agent, name: quick, agent: b.yaml, timeout: 5 }]',
      ),
      '/b.yaml': described('b', 'limits: { duration: 2m }'),
    })
    const rules = { effect: 'once', risk: 'low', retries: 0, approval: null, predictState: [] }
    const [first] = loadAgents(['/a.yaml'], { env: {}, files })
    expect(first?.tools).toEqual([
      { type: 'agent', name: 'ask', description: null, agent: 'b', handoff: false, ...rules, timeoutMs: 120_000 },
      {
        type: 'agent',
        name: 'hand',
        description: 'Takes over from here.',
        agent: 'b',
        handoff: true,
        ...rules,
        effect: 'read',
        approval: { ask: 'always' },
        timeoutMs: 120_000,
      },
      { type: 'agent', name: 'quick', description: null, agent: 'b', handoff: false, ...rules, timeoutMs: 5000 },
    ])
    expect(loadAgent('/a.yaml', { env: {}, files })).toEqual({ ...first, default: false })
  })

  test('report mistakes in their own files, and a missing file at the tool', () => {
    const files = {
      'f/a.yaml': agent('a', calls('sub/b.yaml', 'gone.yaml', 'c.yaml')),
      'f/sub/b.yaml': `colour: red\n${described('b')}`,
      'f/c.yaml': agent('a'),
    }
    const absolute = Object.fromEntries(
      Object.entries(files).flatMap(([path, text]) => [
        [path, text],
        [resolve(path), text],
      ]),
    )
    const gone = resolve('f/gone.yaml')
    expect(linked(['f/a.yaml'], absolute).issues).toEqual([
      expect.stringMatching(/^f\/sub\/b\.yaml:1:1 colour: unknown key\. Known keys here: /),
      `f/a.yaml:6:37 tools[1].agent: ${gone}: there is no such file. Paths are relative to this file.`,
      'f/a.yaml:7:5 tools[2]: neither this tool nor the agent a has a description of at least 10 characters. Write e.g. description: Explains a topic step by step.',
      'f/c.yaml:1:7 name: f/a.yaml already uses the name a. Give each agent its own name.',
    ])
  })

  test('report the mistakes of a shared .env only once', () => {
    const files = { '/a.yaml': agent('a', calls('b.yaml')), '/b.yaml': described('b'), '/.env': 'nonsense\n' }
    expect(linked(['/a.yaml', '/b.yaml'], files).issues).toEqual(['/.env:1:1: expected NAME=value or a # comment.'])
  })
})
