// Recorded answers of real providers, where they are available. No content may be lost between the wire and our parts: the content is
// also read here, in another way than in the decoders, and both must agree.

import { existsSync, readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { isRecord } from '../domain/is-record.ts'
import { createAnthropicDecoder } from './anthropic/decode.ts'
import { createGoogleDecoder } from './google/decode.ts'
import type { ModelPart } from './model.ts'
import { createOpenAiDecoder } from './openai/decode.ts'
import { createCounter, decodeAll, payloadsOf, target } from './testing/fixtures.ts'

const folder = new URL('../../../shared/fixtures/provider-streams/', import.meta.url)
const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.chunks.txt')) : []

interface Said {
  text: string
  reasoning: string
  calls: { name: string; arguments: unknown }[]
}

/** All leaves of `value` in order, each with its path. */
function* leaves(value: unknown, path = ''): Generator<[path: string, leaf: unknown]> {
  if (Array.isArray(value)) for (const item of value) yield* leaves(item, `${path}[]`)
  else if (isRecord(value)) for (const [key, item] of Object.entries(value)) yield* leaves(item, `${path}.${key}`)
  else yield [path, value]
}

function extract(
  payloads: readonly string[],
  paths: { text: RegExp; reasoning: RegExp; args: RegExp; name: RegExp },
): Said {
  const said = { text: '', reasoning: '', names: [] as string[], args: '' }
  for (const payload of payloads) {
    for (const [path, leaf] of leaves(JSON.parse(payload))) {
      if (typeof leaf !== 'string') continue
      if (paths.text.test(path)) said.text += leaf
      else if (paths.reasoning.test(path)) said.reasoning += leaf
      else if (paths.args.test(path)) said.args += leaf
      else if (paths.name.test(path) && leaf !== '') said.names.push(leaf)
    }
  }
  // The recorded streams of these two providers hold at most one call each.
  const calls = said.names.map((name) => ({ name, arguments: JSON.parse(said.args || '{}') }))
  return { text: said.text, reasoning: said.reasoning, calls }
}

function extractGoogle(payloads: readonly string[]): Said {
  const said: Said = { text: '', reasoning: '', calls: [] }
  for (const payload of payloads) {
    for (const part of JSON.parse(payload).candidates[0].content.parts) {
      if (part.functionCall?.name)
        said.calls.push({ name: part.functionCall.name, arguments: part.functionCall.args ?? {} })
      for (const { jsonPath, stringValue } of part.functionCall?.partialArgs ?? []) {
        const args = said.calls.at(-1)?.arguments
        const key = jsonPath.replace('$.', '')
        if (isRecord(args)) args[key] = `${args[key] ?? ''}${stringValue}`
      }
      if (part.thought) said.reasoning += part.text
      else said.text += part.text ?? ''
    }
  }
  return said
}

const OPENAI = {
  text: /delta\.content$|delta\.content\[\]\.text$/,
  reasoning: /delta\.(reasoning|reasoning_content)$|delta\.content\[\]\.thinking\[\]\.text$/,
  args: /function\.arguments$/,
  name: /function\.name$/,
}
const ANTHROPIC = {
  text: /delta\.text$|content_block\.text$/,
  reasoning: /delta\.thinking$/,
  args: /partial_json$/,
  name: /content_block\.name$/,
}

function saidBy(parts: readonly ModelPart[]): Said {
  const calls = new Map<string, { name: string; arguments: string }>()
  const said: Said = { text: '', reasoning: '', calls: [] }
  for (const part of parts) {
    if (part.type === 'text') said.text += part.delta
    else if (part.type === 'reasoning') said.reasoning += part.delta
    else if (part.type === 'tool_call_start') calls.set(part.id, { name: part.name, arguments: '' })
    else if (part.type === 'tool_call_args') {
      const call = calls.get(part.id)
      if (call !== undefined) call.arguments += part.delta
    }
  }
  said.calls = [...calls.values()].map((call) => ({ name: call.name, arguments: JSON.parse(call.arguments) }))
  return said
}

/** All signatures, from any place. A provider may split one over several events. */
const signaturesIn = (payloads: readonly string[]): string =>
  payloads
    .flatMap((payload) => [...leaves(JSON.parse(payload))])
    .filter(([path, leaf]) => /(\.signature|\.thoughtSignature)$/.test(path) && leaf !== '')
    .map(([, leaf]) => leaf)
    .join('')

const signaturesOf = (parts: readonly ModelPart[]): string =>
  parts.map((part) => ('signature' in part ? (part.signature ?? '').replace(/^\w+:/, '') : '')).join('')

const familyOf = (file: string) => {
  if (file.startsWith('anthropic')) return 'anthropic'
  return file.startsWith('google') ? 'google' : 'openai'
}

describe.skipIf(files.length === 0)(
  `recorded streams${files.length === 0 ? ` (skipped: no ${folder.pathname})` : ''}`,
  () => {
    test.each(files.filter((file) => !file.includes('refusal')))('%s loses nothing', (file) => {
      const payloads = payloadsOf(new URL(file, folder))
      const family = familyOf(file)
      const newId = createCounter()
      const decoders = { openai: createOpenAiDecoder, anthropic: createAnthropicDecoder, google: createGoogleDecoder }
      const expected =
        family === 'google' ? extractGoogle(payloads) : extract(payloads, family === 'openai' ? OPENAI : ANTHROPIC)

      const parts = decodeAll(decoders[family](target, newId), payloads)

      expect(expected.text + expected.reasoning + expected.calls.map((call) => call.name).join('')).not.toBe('')
      expect(saidBy(parts)).toEqual(expected)
      expect(signaturesOf(parts)).toBe(signaturesIn(payloads))
      const last = parts.at(-1)
      expect(last?.type === 'finish' && (last.reason === 'tool_calls') === expected.calls.length > 0).toBe(true)
      expect(parts.filter((part) => part.type === 'tool_call_start')).toHaveLength(
        parts.filter((part) => part.type === 'tool_call_end').length,
      )
      expect(
        parts.some((part) => part.type === 'usage' && part.usage.inputTokens > 0 && part.usage.outputTokens > 0),
      ).toBe(true)
    })

    test('the refusal carries its explanation', () => {
      const payloads = payloadsOf(new URL('anthropic-anthropic-refusal.chunks.txt', folder))
      expect(() => decodeAll(createAnthropicDecoder(target, createCounter()), payloads)).toThrow(
        expect.objectContaining({
          code: 'model_refused',
          message:
            "The model declined to answer: This request triggered restrictions on violative cyber content and was blocked under Anthropic's Usage Policy.",
        }),
      )
    })

    test('a small stream gives exactly these parts', () => {
      const payloads = payloadsOf(new URL('mistral-mistral-tool-call.chunks.txt', folder))
      expect(decodeAll(createOpenAiDecoder(target, createCounter()), payloads)).toEqual([
        { type: 'tool_call_start', id: 'gSIMJiOkT', name: 'weather' },
        { type: 'tool_call_args', id: 'gSIMJiOkT', delta: '{"location": "San Francisco"}' },
        { type: 'tool_call_end', id: 'gSIMJiOkT' },
        { type: 'usage', usage: { inputTokens: 124, outputTokens: 22 } },
        { type: 'finish', reason: 'tool_calls' },
      ])
    })
  },
)
