import { createOpenAI } from '@ai-sdk/openai'
import {
  APICallError,
  embed,
  generateImage,
  generateObject,
  generateText,
  jsonSchema,
  type ModelMessage,
  Output,
  stepCountIs,
  streamObject,
  streamText,
  tool,
} from 'ai'
import { expect } from 'vitest'
import { z } from 'zod'
import { all, type Calls, type House, PICTURE, paintSchema } from './house.ts'

const schema = z.object({ colour: z.string() })
const paint = tool({
  description: 'Paints.',
  inputSchema: jsonSchema<{ colour: string; part: string }>(paintSchema),
  execute: async ({ colour }) => `It is ${colour}.`,
})
const tools = { paint }
const say = (content: string) => [{ role: 'user' as const, content }]
type ModelAt = (house: House) => ReturnType<ReturnType<typeof createOpenAI>>

const routes: [string, ModelAt][] = [
  ['chat', ({ options }) => createOpenAI(options).chat('tester')],
  ['responses', ({ options }) => createOpenAI(options)('tester')],
]

const kinds = (at: ModelAt): Calls => ({
  async generateText(house) {
    const { text, usage, finishReason } = await generateText({ model: at(house), prompt: 'hello' })
    expect([text, usage.totalTokens, finishReason]).toEqual(['Good day.', 7, 'stop'])
  },
  async streamText(house) {
    expect(await all(streamText({ model: at(house), prompt: 'hello' }).textStream)).toEqual(['Good ', 'day.'])
  },
  async 'generateText, instructions and settings'(house) {
    const settings = { temperature: 0, maxOutputTokens: 9, topP: 1, seed: 1, stopSequences: ['.'] }
    expect((await generateText({ model: at(house), prompt: 'hello', ...settings })).text).toBe('Good day.')
  },
  async "generateText, the agent's own tools"(house) {
    expect((await generateText({ model: at(house), prompt: 'look' })).text).toContain('I see a ship.')
  },
  async 'generateText, tools in a loop'(house) {
    const request = { model: at(house), prompt: 'paint', tools, stopWhen: stepCountIs(5) }
    const { text, steps } = await generateText(request)
    expect([text, steps.length, await house.sessions()]).toEqual(['It is red.', 2, [5]])
  },
  async 'streamText, tools in a loop'(house) {
    const result = streamText({ model: at(house), prompt: 'paint', tools, stopWhen: stepCountIs(5) })
    expect([await result.text, await house.sessions()]).toEqual(['It is red.', [5]])
  },
  async 'generateText, toolChoice required'(house) {
    const { toolCalls } = await generateText({ model: at(house), prompt: 'talk', tools, toolChoice: 'required' })
    expect(toolCalls).toMatchObject([{ toolName: 'paint' }])
  },
  async 'generateText, toolChoice named'(house) {
    const toolChoice = { type: 'tool', toolName: 'paint' } as const
    const { toolCalls } = await generateText({ model: at(house), prompt: 'talk', tools, toolChoice })
    expect(toolCalls).toMatchObject([{ toolName: 'paint' }])
  },
  async 'generateText, toolChoice none'(house) {
    const { toolCalls } = await generateText({ model: at(house), prompt: 'hello', tools, toolChoice: 'none' })
    expect(toolCalls).toEqual([])
  },
  async generateObject(house) {
    expect((await generateObject({ model: at(house), prompt: 'json', schema })).object).toEqual({ colour: 'red' })
  },
  async 'generateObject, array'(house) {
    const { object } = await generateObject({ model: at(house), prompt: 'list', schema, output: 'array' })
    expect(object).toEqual([{ colour: 'red' }, { colour: 'blue' }])
  },
  async 'generateObject, enum'(house) {
    const { object } = await generateObject({
      model: at(house),
      prompt: 'choose',
      output: 'enum',
      enum: ['red', 'blue'],
    })
    expect(object).toBe('red')
  },
  async 'generateObject, no schema'(house) {
    const { object } = await generateObject({ model: at(house), prompt: 'json', output: 'no-schema' })
    expect(object).toEqual({ colour: 'red' })
  },
  async streamObject(house) {
    const { partialObjectStream } = streamObject({ model: at(house), prompt: 'json', schema })
    expect((await all(partialObjectStream)).at(-1)).toEqual({ colour: 'red' })
  },
  async 'generateText, output object'(house) {
    const { output } = await generateText({ model: at(house), prompt: 'json', output: Output.object({ schema }) })
    expect(output).toEqual({ colour: 'red' })
  },
  async 'an image'(house) {
    const content = [
      { type: 'text' as const, text: 'see' },
      { type: 'image' as const, image: PICTURE },
    ]
    expect((await generateText({ model: at(house), messages: [{ role: 'user', content }] })).text).toBe('I see it.')
  },
  async 'three turns'(house) {
    const messages: ModelMessage[] = []
    for (const text of ['hello', 'again', 'third']) {
      messages.push(...say(text))
      messages.push(...(await generateText({ model: at(house), messages })).response.messages)
    }
    expect(await house.sessions()).toEqual([6])
  },
  async 'a token limit'(house) {
    expect((await generateText({ model: at(house), prompt: 'long' })).finishReason).toBe('length')
  },
  async 'a refusal'(house) {
    expect((await generateText({ model: at(house), prompt: 'refuse' })).finishReason).toBe('content-filter')
  },
  async abort(house) {
    const asking = generateText({ model: at(house), prompt: 'wait', abortSignal: AbortSignal.timeout(300) })
    await expect(asking).rejects.toThrow()
    expect(house.runs()).toBe(1)
  },
  async 'errors: approval'(house) {
    const error = await generateText({ model: at(house), prompt: 'refund' }).catch((thrown: unknown) => thrown)
    expect([APICallError.isInstance(error) && error.statusCode, house.runs()]).toEqual([400, 1])
  },
  async 'errors: inside a stream'(house) {
    const errors: unknown[] = []
    const onError = ({ error }: { error: unknown }) => void errors.push(error)
    const result = streamText({ model: at(house), prompt: 'dead', onError })
    await all(result.fullStream)
    expect(errors).toHaveLength(1)
  },
})

const named = ([route, at]: (typeof routes)[number]) =>
  Object.entries(kinds(at)).map(([kind, call]) => [`${kind} (${route})`, call])

export const works: Calls = Object.fromEntries(routes.flatMap(named))

export const refused: Calls = {
  async embed({ options }) {
    const asking = embed({ model: createOpenAI(options).embedding('tester'), value: 'a' })
    await expect(asking).rejects.toMatchObject({ statusCode: 404 })
  },
  async generateImage({ options }) {
    const asking = generateImage({ model: createOpenAI(options).image('tester'), prompt: 'a' })
    await expect(asking).rejects.toMatchObject({ statusCode: 404 })
  },
}
