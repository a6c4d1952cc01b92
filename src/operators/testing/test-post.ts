import { onTestFinished } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import { createConnections } from '../../outgoing/connections.ts'
import { type Lookup, systemLookup } from '../../tools/http/service/service-http.ts'
import { openServiceHttp } from '../../tools/http/testing/open-service-http.ts'
import { createConsoleLink } from '../console-link.ts'
import { createPost, type Post } from '../notifications/post.ts'

/** Real requests, as the server sends them. */
export function testPost(lookup: Lookup = systemLookup): Post {
  const connections = createConnections()
  onTestFinished(() => connections.close())
  return createPost({ http: openServiceHttp({ lookup }, connections), clock: createSystemClock() })
}

export const testLink = createConsoleLink('https://agents.example.com')
