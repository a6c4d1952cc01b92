// Where people sign in to the MCP servers of the agents: who may, what they see, and what the audit trail says of it.

import { ServerError } from '../../domain/errors.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import { sha256 } from '../../json/digest.ts'

/** An MCP server that wants a sign-in. */
export interface SignInServer {
  name: string
  url: string
  auth: { per: 'server' | 'user' }
}

interface SignInState {
  issuer: string | null
  scope: string | null
  at: number | null
  by: string | null
  lacks: string | null
  problem: string | null
}

/** The sign-ins themselves: `tools/mcp/auth/sign-ins.ts`. */
export interface SignInPort<S extends SignInServer> {
  servers: readonly S[]
  state(server: S, user: string | null): Promise<SignInState>
  begin(options: { server: S; user: string | null; by: string; browser: string | null }): Promise<{ link: string }>
  end(
    back: Record<'state' | 'code' | 'iss' | 'error', string | null>,
    browser: string | null,
  ): Promise<{ server: S; by: string; user: string | null }>
  out(server: S, user: string | null): Promise<boolean>
  document(): object | null
}

export interface SignInView extends SignInState {
  id: string
  server: string
  url: string
  per: 'server' | 'user'
  /** The agents that use it. */
  agents: readonly string[]
}

/** Who asks, and the owner of their sessions. */
export interface Asking {
  by: Caller
  owner: string
}

export interface SignInDesk {
  list(asking: Asking): Promise<SignInView[]>
  /** `browser`: known to the browser that begins. A user begins in a browser: otherwise one could give the link to somebody else. */
  begin(asking: Asking, id: string, browser: string | null): Promise<{ link: string }>
  /** The browser is back. Throws a ServerError in words for the person. */
  end(
    back: Record<'state' | 'code' | 'iss' | 'error', string | null>,
    browser: string | null,
  ): Promise<{ server: string }>
  out(asking: Asking, id: string): Promise<void>
  /** Signs a user out everywhere. Returns of how many servers. */
  outOfAll(by: Caller, user: string): Promise<number>
  /** Our client document. Null: nobody outside could read it. */
  document(): object | null
}

export function createSignInDesk<S extends SignInServer>(deps: {
  /** Null: no agent has such a server. */
  signIns: SignInPort<S> | null
  /** Forgets what is kept of a user, also where no agent has such a server any more. Returns where they were signed in. */
  forget(user: string): Promise<{ server: string; url: string }[]>
  agentsOf(server: S): readonly string[]
  audit(record: AuditRecord): Promise<unknown>
  now(): number
}): SignInDesk {
  const { signIns, agentsOf, audit, now } = deps

  /** Whose sign-in it is: of the caller, or of all. Throws `forbidden`. */
  function userOf(server: S, { by, owner }: Asking): string | null {
    if (by.role === 'anyone') throw new ServerError('forbidden', 'Sign in to the console first, or send a token.')
    if (server.auth.per === 'user') return owner
    if (by.role === 'operator') return null
    throw new ServerError('forbidden', 'Everybody shares this sign-in, so an operator signs in.')
  }

  function find(id: string): { port: SignInPort<S>; server: S } {
    const server = signIns?.servers.find((one) => idOf(one) === id)
    if (signIns !== null && server !== undefined) return { port: signIns, server }
    throw new ServerError(
      'record_not_found',
      `No agent has an MCP server ${JSON.stringify(id.slice(0, 100))} that wants a sign-in.`,
    )
  }

  async function viewOf(port: SignInPort<S>, server: S, owner: string): Promise<SignInView> {
    const { name, url, auth } = server
    const state = await port.state(server, auth.per === 'user' ? owner : null)
    return { ...state, id: idOf(server), server: name, url, per: auth.per, agents: agentsOf(server) }
  }

  const note = (
    kind: 'signed_in' | 'signed_out',
    by: string,
    server: Pick<SignInServer, 'name' | 'url'>,
    user: string | null,
  ): Promise<unknown> =>
    audit({
      at: now(),
      kind,
      by,
      session: null,
      run: null,
      agent: '',
      tool: '',
      call: null,
      details: { mcp_server: server.name, url: server.url, ...(user === null ? {} : { user }) },
    })

  return {
    async list({ owner }) {
      const port = signIns
      return port === null ? [] : Promise.all(port.servers.map((server) => viewOf(port, server, owner)))
    },

    async begin(asking, id, browser) {
      const { port, server } = find(id)
      const user = userOf(server, asking)
      if (browser === null && asking.by.role !== 'operator') {
        throw new ServerError('forbidden', 'Begin the sign-in in the console.')
      }
      return port.begin({ server, user, by: asking.by.user, browser })
    },

    async end(back, browser) {
      if (signIns === null) throw new ServerError('code_invalid', 'No agent has an MCP server that wants a sign-in.')
      const { server, by, user } = await signIns.end(back, browser)
      await note('signed_in', by, server, user)
      return { server: server.name }
    },

    async out(asking, id) {
      const { port, server } = find(id)
      const user = userOf(server, asking)
      if (await port.out(server, user)) await note('signed_out', asking.by.user, server, user)
    },

    async outOfAll(by, user) {
      const forgotten = await deps.forget(user)
      for (const { server: name, url } of forgotten) await note('signed_out', by.user, { name, url }, user)
      return forgotten.length
    },

    document: () => signIns?.document() ?? null,
  }
}

/** The name, and what tells two servers of one name apart. */
const idOf = ({ name, url }: SignInServer): string => `${name}-${sha256(url).slice(0, 8)}`
