import { expect, test } from 'vitest'
import { callLimitMs } from './host-limits.ts'

test.each([
  ['claude-code', true, 86_400],
  ['claude-code', false, 290],
  ['copilot-cli', true, 86_400],
  ['copilot-cli', false, 170],
  ['codex-mcp-client', true, 290],
  ['gemini-cli-mcp-client', false, 590],
  ['somebody', true, 50],
  [null, false, 50],
])('a call of %s (with progress: %s) is answered within %i seconds', (name, hasProgress, seconds) => {
  expect(callLimitMs(name === null ? null : { name }, hasProgress)).toBe(seconds * 1000)
})
