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

test.each([
  ['codex-mcp-client', true, 3_660, 3_650],
  ['somebody', false, 3_660, 3_650],
  ['somebody', false, 30, 20],
  ['somebody', false, 1, 0.5],
  ['claude-code', true, 3_660, 3_650],
  ['claude-code', true, 86_400, 86_390],
  ['claude-code', false, 3_660, 290],
])('a call of %s (with progress: %s) that its config lets block for %i s is answered in time', (...given) => {
  const [name, hasProgress, limit, seconds] = given
  expect(callLimitMs({ name }, hasProgress, limit * 1000)).toBe(seconds * 1000)
})
