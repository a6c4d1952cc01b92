import { describe, expect, test } from 'vitest'
import type { ToolRules } from '../../../domain/agent/tool-settings.ts'
import { mcpSettings } from '../testing/mcp-settings.ts'
import { toolRules } from './mcp-tool.ts'

const plain = { name: 'write', readOnly: false, idempotent: false }
const reading = { name: 'read', readOnly: true, idempotent: true }
const repeatable = { name: 'put', readOnly: false, idempotent: true }

const configured: ToolRules = {
  effect: 'once',
  risk: 'high',
  timeoutMs: 30_000,
  retries: 0,
  approval: null,
  predictState: [],
}

describe('the rules of a tool', () => {
  test('are those of the server, and its hints count only if they are trusted', () => {
    expect(toolRules(mcpSettings(), reading)).toEqual(configured)

    const trusting = mcpSettings({ trustHints: true, retries: 2 })
    expect(toolRules(trusting, plain)).toEqual(configured)
    expect(toolRules(trusting, reading)).toEqual({ ...configured, effect: 'read', risk: 'low', retries: 2 })
    expect(toolRules(trusting, repeatable)).toEqual({ ...configured, effect: 'idempotent', retries: 2 })
  })

  test.each(['high', 'critical'] as const)('a risk that is written, as %s, stays when a tool only reads', (risk) => {
    const settings = mcpSettings({ trustHints: true, risk, written: ['risk'] })
    expect(toolRules(settings, reading)).toEqual({ ...configured, effect: 'read', risk })
  })

  test('what is configured for the tool overrides everything else', () => {
    const settings = mcpSettings({
      trustHints: true,
      retries: 2,
      tools: {
        read: { effect: 'once', risk: 'critical', timeoutMs: 5, approval: { ask: 'always' } },
        write: { effect: 'read' },
      },
    })

    expect(toolRules(settings, reading)).toEqual({
      ...configured,
      risk: 'critical',
      timeoutMs: 5,
      approval: { ask: 'always' },
    })
    expect(toolRules(settings, plain)).toEqual({ ...configured, effect: 'read', risk: 'low', retries: 2 })
  })

  test('a tool named like a property of every object has no rules of its own', () => {
    expect(toolRules(mcpSettings(), { ...plain, name: 'constructor' })).toEqual(configured)
    expect(toolRules(mcpSettings(), { ...plain, name: '__proto__' })).toEqual(configured)
  })
})
