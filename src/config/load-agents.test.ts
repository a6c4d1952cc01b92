import { describe, expect, test } from 'vitest'
import { formatIssue } from './config-error.ts'
import { checkAgents, loadAgents } from './load-agents.ts'
import { createMemoryFiles } from './testing/memory-files.ts'

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

  test('keep the default that one of them claims', () => {
    const files = { '/a.yaml': agent('a'), '/b.yaml': agent('b', 'default: true') }
    expect(load(['/a.yaml', '/b.yaml'], files).agents).toEqual([
      ['a', false],
      ['b', true],
    ])
  })

  test('a file that is named twice is one agent', () => {
    expect(load(['/f/a.yaml', '/f/../f/a.yaml', '/f'], { '/f/a.yaml': agent('a') })).toEqual({
      agents: [['a', true]],
      issues: [],
    })
  })

  test('of a folder are its YAML files that look like agents', () => {
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

  test('of a folder without any are the agent.yaml of its subfolders', () => {
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

  test('a broken agent in a folder is reported, not passed over', () => {
    const files = { '/f/a.yaml': 'name: a\nmodel: {\n', '/f/agent.yaml': '- x', '/f/z.yaml': agent('z') }
    const { agents, issues } = load(['/f'], files)
    expect(agents).toEqual([['z', true]])
    expect(issues.map((line) => line.split(': ')[0])).toEqual(['/f/a.yaml:3:1', '/f/agent.yaml:1:1'])
  })

  test('may not share a name, nor both be the default', () => {
    const files = { '/a.yaml': agent('same', 'default: true'), '/b.yaml': agent('same', 'default: true') }
    expect(load(['/a.yaml', '/b.yaml'], files).issues).toEqual([
      '/b.yaml:1:7 name: /a.yaml is called same already. Give each agent a name of its own.',
      '/b.yaml:4:10 default: /a.yaml is the default already. Keep default: true in one of them.',
    ])
  })

  test('an empty folder and no path at all say what is missing', () => {
    expect(load(['/f'], { '/f/readme.md': '' }).issues).toEqual([
      '/f: there is no agent in this folder. Looked for *.yaml files with model and instructions, and for agent.yaml in its subfolders. Make one with: quarterdeck init',
    ])
    expect(load([], {}).issues).toEqual(['no agent file was named.'])
  })

  test('the mistakes of all files are thrown together', () => {
    const files = createMemoryFiles({ '/a.yaml': '', '/b.yaml': '' })
    expect(() => loadAgents(['/a.yaml', '/b.yaml', '/c.yaml'], { env: {}, files })).toThrow(
      /^\/a\.yaml:1:1: .*\n\/b\.yaml:1:1: .*\n\/c\.yaml: there is no such file\..*$/,
    )
  })
})
