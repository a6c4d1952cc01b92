import { useQuery } from '@tanstack/react-query'
import type { Token } from 'quarterdeck/client'
import { useState } from 'react'
import { useClient } from '../../../data/server.tsx'
import { useIsLive } from '../../../data/use-live.tsx'
import { Badge } from '../../../parts/Badge.tsx'
import { Button } from '../../../parts/Button.tsx'
import { Command } from '../../../parts/Command.tsx'
import { Confirm } from '../../../parts/Confirm.tsx'
import { KeyIcon, NewIcon } from '../../../parts/icons.ts'
import { Facts, Row, RowAction, Rows, When } from '../Rows.tsx'
import { Section } from '../Section.tsx'
import { NewKey, roleWords } from './NewKey.tsx'

export function KeysPart() {
  const client = useClient()
  const isLive = useIsLive()
  const tokens = useQuery({ queryKey: ['tokens'], queryFn: ({ signal }) => client.tokens({ signal }) })
  const [isMaking, setMaking] = useState(false)
  const [revoked, setRevoked] = useState<Token | null>(null)
  return (
    <Section
      title="Access tokens"
      about="With a token a program, an agent or a person talks to this server. These are yours; an admin sees everybody’s. Those of the settings file are not listed."
      action={
        <Button kind="primary" icon={<NewIcon />} disabled={!isLive} onClick={() => setMaking(true)}>
          New token
        </Button>
      }
    >
      <Rows
        query={tokens}
        keyOf={({ id }) => id}
        label="Access tokens"
        none={
          <>
            There are no tokens. Make one here, or with <Command isAboutServer>tokens create</Command>
          </>
        }
      >
        {(token) => <KeyRow token={token} onRevoke={() => setRevoked(token)} />}
      </Rows>
      {isMaking && <NewKey onClose={() => setMaking(false)} />}
      {revoked !== null && (
        <Confirm
          title="Revoke this token?"
          verb="Revoke"
          done="The token is revoked"
          stale={['tokens']}
          act={() => client.revokeToken(revoked.id)}
          onClose={() => setRevoked(null)}
        >
          <p>
            Whoever uses <bdi>{nameOf(revoked)}</bdi> is refused from now on.
          </p>
        </Confirm>
      )}
    </Section>
  )
}

function KeyRow({ token, onRevoke }: { token: Token; onRevoke: () => void }) {
  const { user, role, workspace, channel, scopes, agent, expires_at, created_at } = token
  return (
    <Row
      icon={<KeyIcon aria-hidden="true" />}
      title={nameOf(token)}
      badges={<Badge tone={role === 'operator' ? 'warn' : 'neutral'}>{roleWords[role].name}</Badge>}
      action={
        <RowAction label={`Revoke ${nameOf(token)}`} onClick={onRevoke}>
          Revoke
        </RowAction>
      }
    >
      <Facts>
        <bdi>{user}</bdi>{' '}
        {workspace !== undefined && (
          <span>
            in <code>{workspace}</code>
          </span>
        )}{' '}
        {channel !== undefined && (
          <span>
            reports to <code>{channel}</code>
          </span>
        )}{' '}
        {scopes !== undefined && <span>only {scopes.join(', ')}</span>}{' '}
        {agent !== undefined && (
          <span>
            only with <bdi>{agent}</bdi>
          </span>
        )}{' '}
        <When at={created_at}>Made</When>{' '}
        {expires_at !== undefined && (
          <When at={expires_at}>{Date.parse(expires_at) <= Date.now() ? 'Ended' : 'Ends'}</When>
        )}
      </Facts>
    </Row>
  )
}

const nameOf = ({ name }: Token): string => (name === '' ? 'A token without a name' : name)
