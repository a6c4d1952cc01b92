import { expect, test } from 'vitest'
import { z } from 'zod'
import { type CodeTool, codeTool, createCodeTool } from './code-tool.ts'
import { createStrayErrors } from './stray-errors.ts'

const tool: CodeTool = {
  name: 'add',
  description: 'Adds two numbers.',
  parameters: { type: 'object', properties: { a: { type: 'number' } } },
  run: () => 1,
}
const make = (more: Partial<CodeTool> = {}) => createCodeTool({ ...tool, ...more }, createStrayErrors())

test('has the defaults of agent.yaml', () => {
  expect(make()).toEqual({
    location: 'server',
    action: expect.any(Function),
    name: 'add',
    description: 'Adds two numbers.',
    parameters: tool.parameters,
    returns: null,
    effect: 'once',
    risk: 'high',
    timeoutMs: 30_000,
    retries: 0,
    approval: null,
    predictState: [],
    binding: expect.any(String),
    call: expect.any(Function),
  })
  expect(make({ effect: 'read', retries: 2, approval: 'always' })).toMatchObject({
    risk: 'low',
    retries: 2,
    approval: { ask: 'always' },
  })
})

test('a zod schema becomes JSON Schema and types the arguments of run', () => {
  const typed = codeTool({
    name: 'add',
    description: 'Adds two numbers.',
    parameters: z.object({ a: z.number(), b: z.number().default(1) }),
    returns: z.number(),
    run: ({ a, b }) => (a + b) satisfies number,
  })
  expect(make(typed)).toMatchObject({
    parameters: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
    returns: { type: 'number' },
  })
})

test('its binding is the text of run or a given version, without the description', () => {
  const { binding } = make()
  expect(make({ description: 'Adds numbers, two of them.' }).binding).toBe(binding)
  expect(make({ run: () => 2 }).binding).not.toBe(binding)
  expect(make({ name: 'plus' }).binding).not.toBe(binding)
  expect(make({ binding: 'v1' }).binding).not.toBe(binding)
  expect(make({ binding: 'v1', run: () => 2 }).binding).toBe(make({ binding: 'v1' }).binding)
})
