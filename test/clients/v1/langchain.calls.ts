import { type AIMessage, HumanMessage, SystemMessage, type ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai'
import { expect } from 'vitest'
import { z } from 'zod'
import { all, type Calls, type House, PICTURE } from './house.ts'

const schema = z.object({ colour: z.string() })
const paint = tool(async ({ colour }) => `It is ${colour}.`, {
  name: 'paint',
  description: 'Paints.',
  schema: z.object({ colour: z.string(), part: z.string() }),
})
type ModelAt = (house: House) => ChatOpenAI

const chatAt =
  (useResponsesApi: boolean): ModelAt =>
  ({ options }) =>
    new ChatOpenAI({ model: 'tester', apiKey: options.apiKey, configuration: options, useResponsesApi })

const kinds = (at: ModelAt): Calls => ({
  async invoke(house) {
    const answer = await at(house).invoke('hello')
    expect([answer.text, answer.usage_metadata]).toMatchObject(['Good day.', { total_tokens: 7 }])
  },
  async stream(house) {
    expect((await all(await at(house).stream('hello'))).map(({ text }) => text).join('')).toBe('Good day.')
  },
  async batch(house) {
    expect((await at(house).batch(['hello', 'again'])).map(({ text }) => text)).toEqual(['Good day.', 'Said again.'])
  },
  async 'a system message'(house) {
    expect((await at(house).invoke([new SystemMessage('Be brief.'), new HumanMessage('hello')])).text).toBe('Good day.')
  },
  async 'bindTools and results'(house) {
    const model = at(house).bindTools([paint])
    const messages: (HumanMessage | AIMessage | ToolMessage)[] = [new HumanMessage('paint')]
    const first = await model.invoke(messages)
    messages.push(first)
    for (const call of first.tool_calls ?? []) messages.push(await paint.invoke({ ...call, type: 'tool_call' }))
    expect([(await model.invoke(messages)).text, await house.sessions()]).toEqual(['It is red.', [5]])
  },
  async 'bindTools, tool_choice named'(house) {
    const { tool_calls } = await at(house).bindTools([paint], { tool_choice: 'paint' }).invoke('talk')
    expect(tool_calls).toMatchObject([{ name: 'paint' }])
  },
  async 'withStructuredOutput, jsonSchema'(house) {
    const model = at(house).withStructuredOutput(schema, { name: 'c', method: 'jsonSchema' })
    expect(await model.invoke('json')).toEqual({ colour: 'red' })
  },
  async 'withStructuredOutput, jsonMode'(house) {
    const model = at(house).withStructuredOutput(schema, { name: 'c', method: 'jsonMode' })
    expect(await model.invoke('json')).toEqual({ colour: 'red' })
  },
  async 'withStructuredOutput, functionCalling'(house) {
    const method = { name: 'paint', method: 'functionCalling' as const }
    const model = at(house).withStructuredOutput(z.object({ colour: z.string(), part: z.string() }), method)
    expect(await model.invoke('talk')).toEqual({ colour: 'red', part: 'door' })
  },
  async 'an image'(house) {
    const image_url = { url: `data:image/png;base64,${PICTURE}` }
    const content = [
      { type: 'text', text: 'see' },
      { type: 'image_url', image_url },
    ]
    expect((await at(house).invoke([new HumanMessage({ content })])).text).toBe('I see it.')
  },
  async 'three turns'(house) {
    const messages: (HumanMessage | AIMessage)[] = []
    for (const text of ['hello', 'again', 'third']) {
      messages.push(new HumanMessage(text))
      messages.push(await at(house).invoke(messages))
    }
    expect(await house.sessions()).toEqual([6])
  },
  async 'errors: approval'(house) {
    await expect(at(house).invoke('refund')).rejects.toMatchObject({ status: 400 })
    expect(house.runs()).toBe(1)
  },
})

const any: Calls = {
  async 'bindTools, tool_choice any'(house) {
    const { tool_calls } = await chatAt(false)(house).bindTools([paint], { tool_choice: 'any' }).invoke('talk')
    expect(tool_calls).toMatchObject([{ name: 'paint' }])
  },
}

const routes: [string, Calls][] = [
  ['chat', { ...kinds(chatAt(false)), ...any }],
  ['responses', kinds(chatAt(true))],
]

export const works: Calls = Object.fromEntries(
  routes.flatMap(([route, calls]) => Object.entries(calls).map(([kind, call]) => [`${kind} (${route})`, call])),
)

export const refused: Calls = {
  // The library leaves it out of the request, so the model may talk.
  async 'bindTools, tool_choice any (responses)'(house) {
    const { tool_calls } = await chatAt(true)(house).bindTools([paint], { tool_choice: 'any' }).invoke('talk')
    expect(tool_calls).toEqual([])
  },
  async embeddings({ options }) {
    const embeddings = new OpenAIEmbeddings({ apiKey: options.apiKey, configuration: options })
    await expect(embeddings.embedQuery('a')).rejects.toMatchObject({ status: 404 })
  },
}
