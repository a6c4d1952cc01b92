import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { McpSignIn } from 'quarterdeck/client'
import { useClient } from '../../data/server.tsx'
import { useIsLive } from '../../data/use-live.tsx'
import { ErrorNotice } from '../../parts/approval/Problem.tsx'
import { Badge } from '../../parts/Badge.tsx'
import { Button } from '../../parts/Button.tsx'
import { Panel } from '../../parts/Page.tsx'
import { Time } from '../../parts/Time.tsx'
import { useAction } from '../../parts/use-action.ts'
import styles from './AgentPage.module.css'

/** The other tab signs in meanwhile. */
const LOOK_MS = 5_000

/** The MCP servers of an agent that people sign in to. Nothing for an agent without one. */
export function McpSignIns({ agent }: { agent: string }) {
  const client = useClient()
  const { data = [] } = useQuery({
    queryKey: ['mcp-sign-ins'],
    queryFn: ({ signal }) => client.mcpSignIns.list({ signal }),
    refetchInterval: LOOK_MS,
  })
  const own = data.filter(({ agents }) => agents.includes(agent))
  if (own.length === 0) return null
  return (
    <Panel title="Sign-ins">
      <ul className={styles.signIns}>
        {own.map((one) => (
          <SignInRow key={one.id} signIn={one} />
        ))}
      </ul>
    </Panel>
  )
}

function SignInRow({ signIn }: { signIn: McpSignIn }) {
  const { id, server, url, per, issuer, signed_in_at: at, signed_in_by: by, lacks, problem } = signIn
  const client = useClient()
  const queries = useQueryClient()
  const isLive = useIsLive()
  const { isBusy, error, run } = useAction()
  const refresh = () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: ['mcp-sign-ins'] }),
      queries.invalidateQueries({ queryKey: ['agents'] }),
    ])

  const begin = () =>
    run(async () => {
      const { link } = await client.mcpSignIns.begin(id)
      // A strange server has chosen the address.
      if (/^https?:/i.test(link)) window.location.assign(link)
    })
  const end = () =>
    run(async () => {
      await client.mcpSignIns.end(id)
      await refresh()
    })
  const isIn = at !== null
  return (
    <li>
      <div className={styles.signIn}>
        <p>
          <strong>
            <bdi>{server}</bdi>
          </strong>{' '}
          {isIn ? <Badge tone="good">Signed in</Badge> : <Badge tone="warn">Needs a sign-in</Badge>}{' '}
          {per === 'user' && <Badge>For you alone</Badge>}
        </p>
        <p className={styles.none}>
          <bdi>{url}</bdi>
          {isIn && (
            <>
              {' · '}
              {by} at <bdi>{issuer}</bdi>, <Time at={at} />
            </>
          )}
        </p>
        {lacks !== null && (
          <p>
            A call needed more rights: <bdi>{lacks}</bdi>. Sign in again to give them.
          </p>
        )}
        {problem !== null && <p dir="auto">{problem}</p>}
        <ErrorNotice error={error} />
      </div>
      <div className={styles.words}>
        <Button kind={isIn ? 'plain' : 'primary'} isBusy={isBusy} disabled={!isLive} onClick={() => void begin()}>
          {isIn ? 'Sign in again' : 'Sign in'}
        </Button>
        {isIn && (
          <Button disabled={!isLive || isBusy} onClick={() => void end()}>
            Sign out
          </Button>
        )}
      </div>
    </li>
  )
}
