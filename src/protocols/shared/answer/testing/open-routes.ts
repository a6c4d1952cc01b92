// Some routes over a real socket, on a real engine and store.

import type { TestEngineOptions } from '../../../../engine/testing/open-engine.ts'
import type { Route } from '../../../../http/route.ts'
import { startServer } from '../../../../http/testing/server-fixture.ts'
import { openEngineWithFiles } from '../../../testing/open-engine-with-files.ts'

/** Ends with `await using`. */
export async function openRoutes(
  create: (
    deps: Pick<
      ReturnType<typeof openEngineWithFiles>,
      | 'engine'
      | 'approvals'
      | 'oversight'
      | 'readCosts'
      | 'clock'
      | 'ids'
      | 'attachments'
      | 'links'
      | 'maskText'
      | 'embeddings'
    >,
  ) => Route[],
  options: TestEngineOptions = {},
  serverOptions: Pick<Parameters<typeof startServer>[0], 'limits'> = {},
) {
  const opened = openEngineWithFiles(options)
  const server = await startServer({ ...serverOptions, routes: create(opened) })
  return {
    ...opened,
    url: server.url,
    lines: server.lines,
    post: (path: string, body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal) =>
      fetch(server.url + path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify(body),
        ...(signal === undefined ? {} : { signal }),
      }),
    get: (path: string) => fetch(server.url + path),
    [Symbol.asyncDispose]: async () => {
      await opened.engine.drain(0)
      await server[Symbol.asyncDispose]()
      await opened.close()
    },
  }
}
