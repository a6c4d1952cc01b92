import { describe, expect, test } from 'vitest'
import { requestOfCall } from './request-of-call.ts'

describe('a tool call as a request', () => {
  test.each([
    ['Bash', { command: 'npm test', description: 'Run the tests' }, { filePath: null, command: 'npm test' }],
    ['Write', { file_path: '/w/a.ts', content: 'x' }, { filePath: '/w/a.ts', command: null }],
    ['NotebookEdit', { notebook_path: 'a.ipynb' }, { filePath: 'a.ipynb', command: null }],
    ['view', { path: 'a.ts', file_path: 'a.ts' }, { filePath: 'a.ts', command: null }],
    ['list', { path: null }, { filePath: null, command: null }],
    ['WebSearch', { query: 'x' }, { filePath: null, command: null }],
  ])('of %s names its file and its command', (toolName, input, expected) => {
    expect(requestOfCall(toolName, input, 'low')).toEqual({ toolName, riskLevel: 'low', ...expected })
  })

  test.each([
    [{ path: 'a', file_path: 'b' }],
    [{ command: 'a', cmd: 'b' }],
    [{ command: ['npm', 'test'] }],
    [{ file_path: { toString: 'a' } }],
    ['text'],
    [null],
    [[]],
  ])('is for a person to look at if it is unclear: %j', (input) => {
    expect(requestOfCall('Tool', input, 'low')).toBe(null)
  })
})
