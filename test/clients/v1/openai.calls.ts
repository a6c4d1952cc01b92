import OpenAI from 'openai'
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod'
import { expect } from 'vitest'
import { z } from 'zod'
import { all, type Calls, colourSchema, type House, PICTURE, paintSchema } from './house.ts'

const model = 'tester'
const say = (content: string) => [{ role: 'user' as const, content }]
const at = ({ options }: House) => new OpenAI(options)
const chat = (house: House, content: string, more: object = {}) =>
  at(house).chat.completions.create({ model, messages: say(content), ...more, stream: false })
const respond = (house: House, input: string, more: object = {}) =>
  at(house).responses.create({ model, input, ...more, stream: false })
const chatTools = [{ type: 'function' as const, function: { name: 'paint', parameters: paintSchema } }]
const responseTools = [{ type: 'function' as const, name: 'paint', parameters: paintSchema, strict: true }]
const named = { type: 'function' as const, function: { name: 'paint' } }
const Colour = z.object({ colour: z.string() })

export const works: Calls = {
  async 'models.list'(house) {
    expect(await all(at(house).models.list())).toMatchObject([{ id: 'tester', object: 'model' }])
  },
  async 'models.retrieve'(house) {
    expect(await at(house).models.retrieve('tester')).toMatchObject({ id: 'tester' })
  },
  async 'chat.completions.create'(house) {
    expect(await chat(house, 'hello')).toMatchObject({
      choices: [{ message: { role: 'assistant', content: 'Good day.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
    })
  },
  async 'chat.completions.create, stream'(house) {
    const stream = await at(house).chat.completions.create({ model, messages: say('hello'), stream: true })
    expect((await all(stream)).map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('Good day.')
  },
  async 'chat.completions.create, stream with usage'(house) {
    const request = { model, messages: say('hello'), stream: true as const, stream_options: { include_usage: true } }
    expect((await all(await at(house).chat.completions.create(request))).at(-1)?.usage?.total_tokens).toBe(7)
  },
  async 'chat.completions.stream'(house) {
    const stream = at(house).chat.completions.stream({ model, messages: say('hello') })
    expect(await stream.finalContent()).toBe('Good day.')
  },
  async 'chat.completions, parameters that the agent decides'(house) {
    const more = { temperature: 0, max_tokens: 9, top_p: 1, seed: 1, stop: ['.'], logit_bias: {}, presence_penalty: 0 }
    expect((await chat(house, 'hello', more)).choices[0]?.message.content).toBe('Good day.')
  },
  async 'chat.completions, system and developer messages'(house) {
    const messages = [
      { role: 'system' as const, content: 'a' },
      { role: 'developer' as const, content: 'b' },
    ]
    const { choices } = await at(house).chat.completions.create({ model, messages: [...messages, ...say('hello')] })
    expect(choices[0]?.message.content).toBe('Good day.')
  },
  async 'chat.completions, text parts'(house) {
    const messages = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hello' }] }]
    expect((await at(house).chat.completions.create({ model, messages })).choices[0]?.finish_reason).toBe('stop')
  },
  async 'chat.completions, an image'(house) {
    const image_url = { url: `data:image/png;base64,${PICTURE}` }
    const content = [
      { type: 'text' as const, text: 'see' },
      { type: 'image_url' as const, image_url },
    ]
    const { choices } = await at(house).chat.completions.create({ model, messages: [{ role: 'user', content }] })
    expect(choices[0]?.message.content).toBe('I see it.')
  },
  async 'chat.completions, a file'(house) {
    const file = { filename: 'a.txt', file_data: `data:text/plain;base64,${btoa('words')}` }
    const content = [
      { type: 'text' as const, text: 'see' },
      { type: 'file' as const, file },
    ]
    const { choices } = await at(house).chat.completions.create({ model, messages: [{ role: 'user', content }] })
    expect(choices[0]?.message.content).toBe('I see it.')
  },
  async "chat.completions, the agent's own tools"(house) {
    expect((await chat(house, 'look')).choices[0]?.message.content).toBe('Let me see.\n\nI see a ship.')
  },
  async 'chat.completions, tools, parallel'(house) {
    const { choices } = await chat(house, 'paint', { tools: chatTools, parallel_tool_calls: true })
    expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { tool_calls: [{}, {}] } })
  },
  async 'chat.completions.runTools'(house) {
    const runner = at(house).chat.completions.runTools({ model, messages: say('paint'), tools: runnable() })
    expect(await runner.finalContent()).toBe('It is red.')
    expect(await house.sessions()).toEqual([5])
  },
  async 'chat.completions.runTools, stream'(house) {
    const request = { model, messages: say('paint'), tools: runnable(), stream: true as const }
    expect(await at(house).chat.completions.runTools(request).finalContent()).toBe('It is red.')
  },
  async 'chat.completions, tool_choice none'(house) {
    const { choices } = await chat(house, 'hello', { tools: chatTools, tool_choice: 'none' })
    expect(choices[0]?.finish_reason).toBe('stop')
  },
  async 'chat.completions, tool_choice required'(house) {
    const { choices } = await chat(house, 'talk', { tools: chatTools, tool_choice: 'required' })
    expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null, tool_calls: [{}] } })
  },
  async 'chat.completions, tool_choice named'(house) {
    const { choices } = await chat(house, 'talk', { tools: chatTools, tool_choice: named })
    expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls' })
  },
  async 'chat.completions, tool_choice required, stream'(house) {
    const stream = at(house).chat.completions.stream({
      model,
      messages: say('talk'),
      tools: chatTools,
      tool_choice: 'required',
    })
    expect((await stream.finalChatCompletion()).choices[0]).toMatchObject({ message: { tool_calls: [{}] } })
  },
  async 'chat.completions, response_format json_object'(house) {
    const { choices } = await chat(house, 'json', { response_format: { type: 'json_object' } })
    expect(choices[0]?.message.content).toBe('{"colour":"red"}')
  },
  async 'chat.completions, response_format json_schema'(house) {
    const json_schema = { name: 'c', schema: colourSchema, strict: true }
    const { choices } = await chat(house, 'json', { response_format: { type: 'json_schema', json_schema } })
    expect(choices[0]?.message.content).toBe('{"colour":"red"}')
  },
  async 'chat.completions.parse'(house) {
    const response_format = zodResponseFormat(Colour, 'c')
    const { choices } = await at(house).chat.completions.parse({ model, messages: say('json'), response_format })
    expect(choices[0]?.message.parsed).toEqual({ colour: 'red' })
  },
  async 'chat.completions, metadata and user'(house) {
    expect((await chat(house, 'hello', { metadata: { a: 'b' }, user: 'ada' })).choices).toHaveLength(1)
  },
  async 'chat.completions, a named session'(house) {
    await chat(house, 'hello', { metadata: { session_id: 'talk' } })
    await chat(house, 'again', { metadata: { session_id: 'talk' } })
    expect(await house.sessions()).toEqual([4])
  },
  async 'chat.completions, three turns without a name'(house) {
    const messages: OpenAI.ChatCompletionMessageParam[] = []
    for (const text of ['hello', 'again', 'third']) {
      messages.push(...say(text))
      const { choices } = await at(house).chat.completions.create({ model, messages })
      if (choices[0] !== undefined) messages.push(choices[0].message)
    }
    expect(await house.sessions()).toEqual([6])
  },
  async 'chat.completions, a token limit'(house) {
    expect((await chat(house, 'long')).choices[0]?.finish_reason).toBe('length')
  },
  async 'chat.completions, a refusal'(house) {
    expect((await chat(house, 'refuse')).choices[0]?.finish_reason).toBe('content_filter')
  },
  async 'chat.completions, abort'(house) {
    const controller = new AbortController()
    const request = { model, messages: say('wait'), stream: true as const }
    const stream = await at(house).chat.completions.create(request, { signal: controller.signal })
    for await (const { choices } of stream) if (choices[0]?.delta.content === 'Well') controller.abort()
    expect(house.runs()).toBe(1)
  },
  async 'chat.completions, a timeout'(house) {
    const asking = at(house).chat.completions.create({ model, messages: say('wait') }, { timeout: 200, maxRetries: 0 })
    await expect(asking).rejects.toBeInstanceOf(OpenAI.APIConnectionTimeoutError)
  },
  async 'errors: unknown model'(house) {
    const asking = at(house).chat.completions.create({ model: 'gpt-4', messages: say('hello') })
    await expect(asking).rejects.toMatchObject({ status: 404, code: 'model_not_found' })
  },
  async 'errors: approval'(house) {
    await expect(chat(house, 'refund')).rejects.toMatchObject({ status: 400, code: 'approval_pending' })
    expect(house.runs()).toBe(1)
  },
  async 'errors: the model is gone for good'(house) {
    await expect(chat(house, 'dead')).rejects.toMatchObject({ status: 400, code: 'model_auth_failed' })
  },
  async 'errors: the model is busy'(house) {
    await expect(chat(house, 'busy')).rejects.toMatchObject({ status: 503, code: 'model_rate_limited' })
  },
  async 'errors: inside a stream'(house) {
    const stream = at(house).chat.completions.stream({ model, messages: say('dead') })
    await expect(stream.finalContent()).rejects.toMatchObject({ code: 'model_auth_failed' })
  },
  async 'responses.create'(house) {
    expect(await respond(house, 'hello')).toMatchObject({ status: 'completed', output_text: 'Good day.' })
  },
  async 'responses.create, stream'(house) {
    const events = await all(await at(house).responses.create({ model, input: 'hello', stream: true }))
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { status: 'completed' } })
  },
  async 'responses.stream'(house) {
    expect((await at(house).responses.stream({ model, input: 'hello' }).finalResponse()).output_text).toBe('Good day.')
  },
  async 'responses.parse'(house) {
    const { output_parsed } = await at(house).responses.parse({
      ...{ model, input: 'json' },
      text: { format: zodTextFormat(Colour, 'c') },
    })
    expect(output_parsed).toEqual({ colour: 'red' })
  },
  async 'responses, text.format json_object'(house) {
    const { output_text, text } = await respond(house, 'json', { text: { format: { type: 'json_object' } } })
    expect([output_text, text?.format]).toEqual(['{"colour":"red"}', { type: 'json_object' }])
  },
  async 'responses, tools and their results'(house) {
    const first = await respond(house, 'paint', { tools: responseTools })
    const outputs = first.output.flatMap((item) =>
      item.type === 'function_call'
        ? [{ type: 'function_call_output' as const, call_id: item.call_id, output: 'ok' }]
        : [],
    )
    const second = await at(house).responses.create({ model, previous_response_id: first.id, input: outputs })
    expect(second.output_text).toBe('It is red.')
  },
  async 'responses, tool_choice required'(house) {
    const { output } = await respond(house, 'talk', { tools: responseTools, tool_choice: 'required' })
    expect(output).toMatchObject([{ type: 'function_call', name: 'paint' }])
  },
  async 'responses, tool_choice named'(house) {
    const tool_choice = { type: 'function', name: 'paint' }
    const { output } = await respond(house, 'talk', { tools: responseTools, tool_choice })
    expect(output).toMatchObject([{ type: 'function_call', name: 'paint' }])
  },
  async 'responses, an image and a file'(house) {
    const content = [
      { type: 'input_text' as const, text: 'see' },
      { type: 'input_image' as const, detail: 'auto' as const, image_url: `data:image/png;base64,${PICTURE}` },
      { type: 'input_file' as const, filename: 'a.txt', file_data: `data:text/plain;base64,${btoa('words')}` },
    ]
    const { output_text } = await at(house).responses.create({ model, input: [{ role: 'user', content }] })
    expect(output_text).toBe('I see it.')
  },
  async 'responses, instructions and metadata'(house) {
    const response = await respond(house, 'hello', { instructions: 'Be brief.', metadata: { a: 'b' } })
    expect(response).toMatchObject({ instructions: 'Be brief.', metadata: { a: 'b' } })
  },
  async 'responses, previous_response_id'(house) {
    const { id } = await respond(house, 'hello')
    expect(await respond(house, 'again', { previous_response_id: id })).toMatchObject({ previous_response_id: id })
    expect(await house.sessions()).toEqual([4])
  },
  async 'responses, conversation'(house) {
    await respond(house, 'hello', { conversation: 'talk' })
    await respond(house, 'again', { conversation: 'talk' })
    expect(await house.sessions()).toEqual([4])
  },
  async 'responses, three turns as an input list'(house) {
    const input: OpenAI.Responses.ResponseInput = []
    for (const text of ['hello', 'again', 'third']) {
      input.push(...say(text))
      const { output } = await at(house).responses.create({ model, input })
      input.push(...output.filter((item) => item.type === 'message'))
    }
    expect(await house.sessions()).toEqual([6])
  },
  async 'responses.retrieve'(house) {
    const { id } = await respond(house, 'hello')
    expect(await at(house).responses.retrieve(id)).toMatchObject({ id, output_text: 'Good day.' })
  },
  async 'responses.cancel'(house) {
    const asking = at(house).responses.create({ model, input: 'wait', stream: true })
    for await (const event of await asking) {
      if (event.type !== 'response.output_text.delta') continue
      const [session] = await house.engine.sessions.list({ owner: 'local_user', limit: 1 })
      const [run] = await house.engine.runs.open(session?.id ?? '')
      expect(await at(house).responses.cancel(run?.id ?? '')).toMatchObject({ status: 'cancelled' })
    }
  },
  async 'responses.delete'(house) {
    const { id } = await respond(house, 'hello')
    await at(house).responses.delete(id)
    await expect(at(house).responses.retrieve(id)).rejects.toMatchObject({ status: 404 })
  },
}

/** What an agent cannot do says so in one answer, without another try. */
export const refused: Calls = {
  async 'n answers at once'(house) {
    await expect(chat(house, 'hello', { n: 2 })).rejects.toMatchObject({ status: 400, param: 'n' })
  },
  async 'functions, the form before tools'(house) {
    const functions = [{ name: 'paint', parameters: paintSchema }]
    await expect(chat(house, 'paint', { functions })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('Send functions as tools'),
    })
  },
  async 'custom tools, and the tools of OpenAI'(house) {
    const tools = [{ type: 'web_search' }]
    await expect(respond(house, 'hello', { tools })).rejects.toMatchObject({ status: 400, param: 'tools[0]' })
  },
  async 'audio in a message'(house) {
    const part = { type: 'input_audio' as const, input_audio: { data: 'AAAA', format: 'wav' as const } }
    const asking = at(house).chat.completions.create({ model, messages: [{ role: 'user', content: [part] }] })
    await expect(asking).rejects.toMatchObject({ status: 400, message: expect.stringContaining('Audio') })
  },
  async 'responses.retrieve, stream'(house) {
    const { id } = await respond(house, 'hello')
    await expect(at(house).responses.retrieve(id, { stream: true })).rejects.toMatchObject({ status: 400 })
  },
  async 'embeddings, images, audio, moderations, files, batches, completions'(house) {
    const client = at(house)
    const settled = await Promise.allSettled([
      client.embeddings.create({ model, input: 'a' }),
      client.images.generate({ prompt: 'a' }),
      client.audio.speech.create({ model, input: 'a', voice: 'alloy' }),
      client.moderations.create({ input: 'a' }),
      client.files.list(),
      client.batches.list(),
      client.completions.create({ model, prompt: 'a' }),
    ])
    // There is a route for embeddings, and no agent here has one.
    const codes = settled.map((_, i) => (i === 0 ? 'model_not_found' : 'route_not_found'))
    expect(settled).toMatchObject(codes.map((code) => ({ reason: { status: 404, code } })))
  },
}

function runnable() {
  const call = ({ colour }: { colour: string }) => `It is ${colour}.`
  return [
    {
      type: 'function' as const,
      function: { name: 'paint', description: 'Paints.', parameters: paintSchema, parse: JSON.parse, function: call },
    },
  ]
}
