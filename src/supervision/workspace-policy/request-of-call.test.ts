import { describe, expect, test } from 'vitest'
import { requestOfCall } from './request-of-call.ts'

describe('a tool call as a request', () => {
  test.each([
    ['Bash', { command: 'npm test', description: 'Run the tests' }, { filePath: null, command: 'npm test' }],
    [
      'shell',
      { command: ['npm', 'run', 'a b', '--x=1'], workdir: '/w' },
      { filePath: null, command: "npm run 'a b' --x=1" },
    ],
    ['shell', { command: ['bash', '-lc', 'ls; id'] }, { filePath: null, command: "bash -lc 'ls; id'" }],
    ['Write', { file_path: '/w/a.ts', content: 'x' }, { filePath: '/w/a.ts', command: null }],
    ['MultiEdit', { file_path: 'a.ts', edits: [{ old_string: 'a' }] }, { filePath: 'a.ts', command: null }],
    ['NotebookEdit', { notebook_path: 'a.ipynb' }, { filePath: 'a.ipynb', command: null }],
    ['view', { path: 'a.ts', file_path: 'a.ts' }, { filePath: 'a.ts', command: null }],
    ['list_directory', { directory: 'src' }, { filePath: 'src', command: null }],
    ['list', { path: null }, { filePath: null, command: null }],
    ['WebSearch', { query: 'x' }, { filePath: null, command: null }],
  ])('of %s names its file and its command', (toolName, input, expected) => {
    expect(requestOfCall(toolName, input, 'low', '/w')).toEqual({ toolName, riskLevel: 'low', ...expected })
  })

  test.each([
    ['Move', { path: 'a', file_path: 'b' }],
    ['Move', { source: 'a', destination: 'b' }],
    ['Write', { file_path: 'a', targetFile: 'b' }],
    ['Bash', { command: 'a', cmd: 'b' }],
    ['Bash', { command: 'npm test', cwd: '/elsewhere' }],
    ['exec', { argv: ['npm', 'test'], cwd: '/w/elsewhere' }],
    ['exec', { workdir: 'elsewhere', script: 'npm test' }],
    ['Bash', { command: ["it's"] }],
    ['Bash', { command: [] }],
    ['Bash', { command: [['npm']] }],
    ['Bash', { command: { a: 1 } }],
    ['Write', { file_path: { a: 1 } }],
    ['Read', { file_path: ['a', 'b'] }],
    ['MultiEdit', { edits: [{ file_path: '.git/config' }] }],
    ['Run', { steps: [{ command: 'ls' }] }],
    ['apply_patch', { input: '*** Update File: .git/config' }],
    ['edit', { diff: '--- a/.git/config' }],
    ['Tool', { many: Array(2_000).fill(1) }],
    ['Tool', 'text'],
    ['Tool', null],
    ['Tool', []],
  ])('of %s is for a person to look at if it is unclear: %j', (toolName, input) => {
    expect(requestOfCall(toolName, input, 'low', '/w')).toBe(null)
  })
})
