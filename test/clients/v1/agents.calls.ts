import { Agent, type AgentInputItem, OpenAIProvider, Runner, tool } from '@openai/agents'
import { expect } from 'vitest'
import { z } from 'zod'
import { all, type Calls, type House } from './house.ts'

const instructions = 'Help.'
const paint = tool({
  name: 'paint',
  description: 'Paints.',
  parameters: z.object({ colour: z.string(), part: z.string() }),
  execute: async ({ colour }) => `It is ${colour}.`,
})
const plain = new Agent({ name: 'a', instructions, model: 'tester' })
const painter = new Agent({ name: 'a', instructions, model: 'tester', tools: [paint] })

type RunnerAt = (house: House) => Runner

const runnerAt =
  (useResponses: boolean): RunnerAt =>
  ({ options }) =>
    new Runner({ modelProvider: new OpenAIProvider({ ...options, useResponses }), tracingDisabled: true })

const kinds = (at: RunnerAt): Calls => ({
  async run(house) {
    expect((await at(house).run(plain, 'hello')).finalOutput).toBe('Good day.')
  },
  async 'run, stream'(house) {
    const result = await at(house).run(plain, 'hello', { stream: true })
    expect((await all(result.toTextStream())).join('')).toBe('Good day.')
  },
  async 'run, tools'(house) {
    const { finalOutput } = await at(house).run(painter, 'paint')
    expect([finalOutput, await house.sessions()]).toEqual(['It is red.', [5]])
  },
  async 'run, an output type'(house) {
    const outputType = z.object({ colour: z.string() })
    const agent = new Agent({ name: 'a', instructions, model: 'tester', outputType })
    expect((await at(house).run(agent, 'json')).finalOutput).toEqual({ colour: 'red' })
  },
  async 'run, toolChoice required'(house) {
    const agent = painter.clone({ modelSettings: { toolChoice: 'required' }, toolUseBehavior: 'stop_on_first_tool' })
    expect((await at(house).run(agent, 'talk')).finalOutput).toBe('It is red.')
  },
  async 'three turns'(house) {
    let items: AgentInputItem[] = []
    for (const content of ['hello', 'again', 'third']) {
      const input: AgentInputItem[] = [...items, { role: 'user', content }]
      items = (await at(house).run(plain, input)).history
    }
    expect(await house.sessions()).toEqual([6])
  },
  async 'errors: approval'(house) {
    await expect(at(house).run(plain, 'refund')).rejects.toMatchObject({ status: 400 })
    expect(house.runs()).toBe(1)
  },
})

const routes: [string, Calls][] = [
  ['chat', kinds(runnerAt(false))],
  ['responses', kinds(runnerAt(true))],
]

export const works: Calls = Object.fromEntries(
  routes.flatMap(([route, calls]) => Object.entries(calls).map(([kind, call]) => [`${kind} (${route})`, call])),
)

export const refused: Calls = {}
