import { record } from './sse-recorder.ts'
import type { TestServer } from './start-server.ts'

/** How many streams the server has open. */
export async function openStreams({ url }: TestServer): Promise<number> {
  const { body } = await record({ url: `${url}/metrics` }).done
  return Number(/^quarterdeck_http_streams (\d+)$/m.exec(body)?.[1])
}
