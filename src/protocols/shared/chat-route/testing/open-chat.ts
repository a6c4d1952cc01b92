// Both families of `/chat`, with the doors they share sessions with, over a real socket on a real engine and store.

import { type Door, doorNames } from '../../../../doors.ts'
import type { TestEngineOptions } from '../../../../engine/testing/open-engine.ts'
import { startServer } from '../../../../http/testing/server-fixture.ts'
import { createAgUiRoutes } from '../../../ag-ui/routes.ts'
import { createChatRoutes } from '../../../chat/routes.ts'
import { createSessionRoutes } from '../../../manage/sessions/routes.ts'
import { openEngineWithFiles } from '../../../testing/open-engine-with-files.ts'
import { readSse } from '../../../testing/sse-reader.ts'
import { createThreadRoutes } from '../../../threads/routes.ts'
import { joinChatRoutes } from '../join-chat-routes.ts'

/** Ends with `await using`. */
export async function openChat({
  doors = doorNames,
  ...options
}: TestEngineOptions & { doors?: readonly Door[] } = {}) {
  const opened = openEngineWithFiles(options)
  const { engine, approvals, oversight, readCosts, clock, ids, attachments, links, maskText } = opened
  const deps = {
    engine,
    approvals,
    oversight,
    readCosts,
    clock,
    ids,
    attachments,
    links,
    maskText,
    version: '0.0.0-test',
  }
  const chat = joinChatRoutes([...createChatRoutes(deps), ...createThreadRoutes(deps)], doors)
  const routes = [...createAgUiRoutes(deps), ...createSessionRoutes(deps), ...chat]
  const server = await startServer({ routes, doors })
  const { url, lines } = server

  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })

  return {
    ...opened,
    url,
    lines,
    post,
    get: (path: string, headers: Record<string, string> = {}) => fetch(url + path, { headers }),
    remove: (path: string, headers: Record<string, string> = {}) => fetch(url + path, { method: 'DELETE', headers }),
    /** Posts and opens the stream. */
    stream: async (body: unknown, headers?: Record<string, string>) => readSse(await post('/chat', body, headers)),
    [Symbol.asyncDispose]: async () => {
      await engine.drain(0)
      await server[Symbol.asyncDispose]()
      await opened.close()
    },
  }
}

/** What a refusal says: its status, its code, and where the input is wrong. */
export async function refusalOf(response: Response): Promise<{ status: number; code: unknown; pointers: string[] }> {
  const problem = (await response.json()) as { code: unknown; errors?: { pointer: string }[] }
  return { status: response.status, code: problem.code, pointers: (problem.errors ?? []).map(({ pointer }) => pointer) }
}

/** The `before` of the next page; null on the last one. */
export function nextPath(response: Response): string | null {
  return /^<(.+)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1] ?? null
}
