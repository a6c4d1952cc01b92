import { describe, expect, test } from 'vitest'
import type { PromptToolSettings } from '../domain/agent/tool-settings.ts'
import { createPromptTool } from './create-prompt-tool.ts'
import { toolCall } from './testing/tool-call.ts'

const settings: PromptToolSettings = {
  type: 'prompt',
  name: 'translate',
  description: 'Translates a text.',
  parameters: { type: 'object', properties: { text: {}, language: {}, options: {} } },
  returns: null,
  effect: 'read',
  risk: 'low',
  timeoutMs: 30_000,
  retries: 0,
  approval: null,
  predictState: [],
  template: 'Translate to {language}: {text}\n{{text}} and {"json": 1} stay. {options}',
}

describe('a prompt tool', () => {
  test('asks the model with the arguments filled in, and counts the tokens', async () => {
    const prompts: string[] = []
    const usage = [{ model: 'm', inputTokens: 7, outputTokens: 3 }]
    const tool = createPromptTool(settings, async (prompt) => {
      prompts.push(prompt)
      return { text: 'Hallo', usage }
    })
    const { signal } = new AbortController()

    // The value of an argument is not read as a template.
    const first = await tool.call(
      toolCall({ text: 'say {language} $& {{x}}', language: 'German', options: { a: [1] } }),
      signal,
    )
    await tool.call(toolCall({ text: 'Hi' }), signal)

    expect(first).toEqual({ content: 'Hallo', isError: false, usage })
    expect(prompts).toEqual([
      'Translate to German: say {language} $& {{x}}\n{text} and {"json": 1} stay. {"a":[1]}',
      'Translate to : Hi\n{text} and {"json": 1} stay. ',
    ])
  })

  test('is described by its settings alone', () => {
    const { call, action, ...described } = createPromptTool(settings, async () => ({ text: '', usage: [] }))
    expect(action?.({})).toBe(`asks the model with the prompt ${settings.name}`)
    const { type, template, ...rest } = settings
    expect(described).toEqual({ location: 'server', binding: expect.any(String), ...rest })
  })

  test('reports an empty answer, and passes a failure of the model on', async () => {
    const { signal } = new AbortController()
    const silent = createPromptTool(settings, async () => ({ text: ' \n', usage: [] }))
    expect(await silent.call(toolCall({}), signal)).toEqual({
      content: 'The model answered with nothing.',
      isError: true,
      usage: [],
    })
    const failing = createPromptTool(settings, () => Promise.reject(new Error('no')))
    await expect(failing.call(toolCall({}), signal)).rejects.toThrow('no')
  })

  test('passes the signal on', async () => {
    const { signal } = new AbortController()
    const seen: AbortSignal[] = []
    const tool = createPromptTool(settings, async (_, given) => {
      seen.push(given)
      return { text: 'x', usage: [] }
    })
    await tool.call(toolCall({}), signal)
    expect(seen).toEqual([signal])
  })

  test.each(['{txet}', 'a {constructor} b'])('refuses the template %j when the tool is created', (template) => {
    expect(() => createPromptTool({ ...settings, template }, async () => ({ text: '', usage: [] }))).toThrow(
      expect.objectContaining({
        code: 'config_invalid',
        message: expect.stringMatching(/^Tool translate: the template uses \{\w+\}, but parameters has no/),
      }),
    )
  })
})
