import { readFileSync } from 'node:fs'
import type { ModelTarget } from '../failure.ts'
import type { Model, ModelPart, ModelRequest } from '../model.ts'
import type { StreamDecoder } from '../wire/wire-model.ts'

export const target: ModelTarget = {
  provider: 'test',
  model: 'test-model',
  host: 'model.test',
  keyVariable: 'TEST_API_KEY',
  under: 'model',
}

/** The payloads of a recorded stream, one per line. */
export function payloadsOf(file: URL | string): string[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
}

export function decodeAll(decoder: StreamDecoder, payloads: readonly string[]): ModelPart[] {
  const parts: ModelPart[] = []
  for (const payload of payloads) decoder.decode(payload, parts)
  decoder.end(parts)
  return parts
}

/** Ids that count: `new-1`, `new-2`, … */
export function createCounter(): () => string {
  let count = 0
  return () => `new-${++count}`
}

export const emptyRequest: ModelRequest = {
  system: '',
  messages: [{ role: 'user', content: 'Hello' }],
  aside: '',
  tools: [],
  responseFormat: null,
  sessionId: 'session-1',
}

export async function collect(model: Model, request: ModelRequest, signal: AbortSignal): Promise<ModelPart[]> {
  const all: ModelPart[] = []
  await model.stream(request, signal, (parts) => {
    all.push(...parts)
  })
  return all
}

/** What `work` threw, or null when it succeeded. */
export async function failureFrom(work: Promise<unknown> | (() => unknown)): Promise<unknown> {
  try {
    await (typeof work === 'function' ? work() : work)
    return null
  } catch (error) {
    return error
  }
}
