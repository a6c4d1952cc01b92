// This door over a real socket, beside the AG-UI door, on a real engine and store.

import type { TestEngineOptions } from '../../../engine/testing/open-engine.ts'
import { startServer } from '../../../http/testing/server-fixture.ts'
import { createAgUiRoutes } from '../../ag-ui/routes.ts'
import { createSessionRoutes } from '../../manage/sessions/routes.ts'
import { openEngineWithFiles } from '../../testing/open-engine-with-files.ts'
import type { Embeddings } from '../embed.ts'
import { openAiErrorShape } from '../error-shape.ts'
import { createOpenAiRoutes } from '../routes.ts'

export const CHAT = '/v1/chat/completions'
export const RESPONSES = '/v1/responses'

/** Ends with `await using`. */
export async function openOpenAi(options: TestEngineOptions = {}, embeddings: Embeddings = { of: () => null }) {
  const opened = openEngineWithFiles(options)
  const { engine, approvals, oversight, clock, ids, attachments, links, maskText } = opened
  const parts = { engine, approvals, oversight, clock, ids, attachments, links, maskText }
  const deps = { ...parts, embeddings, version: '0.0.0-test' }
  const routes = [...createAgUiRoutes(deps), ...createSessionRoutes(deps), ...createOpenAiRoutes(deps)]
  const server = await startServer({ routes, errorShapes: { v1: openAiErrorShape } })
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(server.url + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  return {
    ...opened,
    url: server.url,
    post,
    get: (path: string, headers: Record<string, string> = {}) => fetch(server.url + path, { headers }),
    /** Posts and reads the whole stream. */
    frames: async (path: string, body: object, headers?: Record<string, string>) =>
      framesOf(await (await post(path, { ...body, stream: true }, headers)).text()),
    [Symbol.asyncDispose]: async () => {
      await engine.drain(0)
      await server[Symbol.asyncDispose]()
      await opened.close()
    },
  }
}

export interface EventFrame {
  id?: string
  event?: string
  data: unknown
}

/** The frames of a whole stream, comments left out. */
export function framesOf(text: string): EventFrame[] {
  return text
    .split('\n\n')
    .filter((block) => block !== '' && !block.startsWith(':'))
    .map((block) => {
      const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s)))
      const { id, event, data } = fields
      return {
        ...(id === undefined ? {} : { id }),
        ...(event === undefined ? {} : { event }),
        data: data === '[DONE]' ? data : JSON.parse(data),
      }
    })
}

export const ask = (content: string) => [{ role: 'user', content }]
