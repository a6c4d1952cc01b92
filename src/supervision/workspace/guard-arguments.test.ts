import { linkSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeWorkspace } from '../testing/workspace.ts'
import { createGuardArguments, type GuardedCall } from './guard-arguments.ts'

function open() {
  const workspaceRoot = makeWorkspace({ 'tools/mail.ts': 'x', 'tools/notes.md': 'x', 'src/a.ts': 'x', 'src/b.ts': 'x' })
  const home = makeWorkspace()
  const guard = createGuardArguments([join(workspaceRoot, 'tools/mail.ts')], home)
  return {
    root: workspaceRoot,
    home,
    ask: (input: unknown, more: Partial<GuardedCall> = {}) => guard({ workspaceRoot, access: 'write', input, ...more }),
  }
}

test('says which argument leads to what this server reads, at any depth and as a key', () => {
  const { ask } = open()
  const reason = 'The path "tools/mail.ts" is protected: This server reads it.'

  expect(ask({ a: [{ b: { c: ['src/a.ts', 'tools/mail.ts'] } }] })).toBe(reason)
  expect(ask({ files: { 'tools/mail.ts': 'text' } })).toBe(reason)
  expect(ask({ arguments: JSON.stringify({ list: [JSON.stringify(['tools/mail.ts'])] }) })).toBe(reason)
  expect(ask({ content: 'tools/mail.ts' }, { without: new Set(['content']) })).toBe(null)
  expect(ask({ folder: 'tools' })).toBe('The path "tools" is protected: This server reads files in it.')
  expect(ask({ path: 'tools/notes.md', text: 'a\nb', n: 1, none: null, empty: '' })).toBe(null)
})

test('follows links, also those that lead nowhere yet, and relative paths from where the agent is', () => {
  const { root, ask } = open()
  symlinkSync(join(root, 'tools'), join(root, 'src/alias'))
  symlinkSync('../.mcp.json', join(root, 'src/later'))
  symlinkSync('/etc', join(root, 'src/out'))

  expect(ask('src/alias/mail.ts')).toContain('This server reads it.')
  expect(ask('src/later')).toContain('A coding agent reads its settings')
  expect(ask('src/out/hosts')).toContain('leads out of the workspace')
  expect(ask('mail.ts')).toBe(null)
  expect(ask('mail.ts', { cwd: join(root, 'tools') })).toContain('This server reads it.')
})

test.each(['@tools/mail.ts', '"tools/mail.ts"', "'tools/mail.ts'", '`tools/mail.ts`'])(
  '%s is the file in it too',
  (text) => {
    expect(open().ask(text)).toContain('This server reads it.')
  },
)

test('a path of any length counts as what is left of it', () => {
  const { root, ask } = open()

  for (const path of [`${'x/../'.repeat(1_000)}tools/mail.ts`, `${'/'.repeat(5_000)}${root}/tools/mail.ts`]) {
    expect(ask(path)).not.toBe(null)
    expect(ask(` ${path}`)).not.toBe(null)
  }
})

test('a file with other names may be one of ours', () => {
  const { root, ask } = open()
  linkSync(join(root, 'tools/mail.ts'), join(root, 'src/other.ts'))

  expect(ask('src/other.ts')).toContain('has other names (hard links)')
  expect(ask('src/other.ts', { access: 'read' })).toBe(null)
})

test('to read beside a file of ours is harmless, to read it is not', () => {
  const { ask } = open()

  expect(ask('tools', { access: 'read' })).toBe(null)
  expect(ask('tools/notes.md', { access: 'read' })).toBe(null)
  expect(ask('tools/mail.ts', { access: 'read' })).toContain('This server reads it.')
})

test('asks where it is not clear what a text means, and lets text be text', () => {
  const { root, home, ask } = open()
  mkdirSync(join(home, 'x'))

  for (const text of ['~eve/x', '$HOME/x', '%APPDATA%\\x', 'file://elsewhere/x', '/proc/self/environ', 'a\0b']) {
    expect([text, ask(text)]).toEqual([text, expect.stringMatching(/^It is not clear where the path ".*" leads\.$/)])
  }
  for (const text of ['~/x', `file://${home}/x`, '/etc/hosts', '../x', `${root}/../x`]) {
    expect([text, ask(text)]).toEqual([text, expect.stringContaining('leads out of the workspace')])
  }
  for (const text of [
    '/v1-no-such-folder/users',
    'https://example.com/a',
    'src/a.ts/x',
    'x'.repeat(5_000),
    '100% sure',
  ]) {
    expect([text, ask(text)]).toEqual([text, null])
  }
  expect(ask(Array.from({ length: 1_001 }, () => 'src/a.ts'))).toBe('The call has too many arguments to look at.')
})
