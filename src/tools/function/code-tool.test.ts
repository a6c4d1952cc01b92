import { expect, test } from 'vitest'
import { z } from 'zod'
import { silentLogger } from '../../domain/logger.ts'
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

test('its reviewers get the checked arguments, and are part of its binding', async () => {
  const reviewed = codeTool({
    name: 'add',
    description: 'Adds two numbers.',
    parameters: z.object({ a: z.string().transform(Number) }),
    preview: ({ a }, { user }) => `${user} adds ${a + 1}`,
    needsApproval: async ({ a }) => (a > 5 ? { risk: 'critical', reason: 'It is much.' } : false),
    run: ({ a }) => a,
  })
  const made = make(reviewed)
  const review = { sessionId: 's', owner: 'ada', agent: 'helper', log: silentLogger }
  const { signal } = new AbortController()

  expect(await made.preview?.({ a: '1' }, review, signal)).toBe('ada adds 2')
  expect(await made.needsApproval?.({ a: '1' }, review, signal)).toBe(false)
  expect(await made.needsApproval?.({ a: '9' }, review, signal)).toEqual({ risk: 'critical', reason: 'It is much.' })
  await expect(made.preview?.({ a: 1 }, review, signal)).rejects.toThrow('The arguments are not valid.')
  const bindingWith = (preview: CodeTool['preview']) => make({ ...reviewed, ...(preview && { preview }) }).binding
  expect(bindingWith(() => 'other')).not.toBe(made.binding)
})

test('an error that its preview leaves uncaught belongs to the preview', async () => {
  const strays = createStrayErrors()
  const careless: CodeTool = {
    ...tool,
    preview: () =>
      new Promise(() => {
        // As the process would, when it hears of an uncaught error.
        queueMicrotask(() => expect(strays.take(new Error('lost'))).toBe(true))
      }),
  }
  const made = createCodeTool(careless, strays)
  const review = { sessionId: 's', owner: 'ada', agent: 'helper', log: silentLogger }
  await expect(made.preview?.({}, review, new AbortController().signal)).rejects.toThrow('lost')
})
