import { useQuery } from '@tanstack/react-query'
import type { Grant, GrantCondition } from 'quarterdeck/client'
import { useState } from 'react'
import { Link } from 'wouter'
import { visibleText } from '../../../../../src/domain/text/visible-text.ts'
import { useClient } from '../../../data/server.tsx'
import { Badge } from '../../../parts/Badge.tsx'
import { Confirm } from '../../../parts/Confirm.tsx'
import { ApprovalIcon } from '../../../parts/icons.ts'
import { Time } from '../../../parts/Time.tsx'
import { VisibleText } from '../../../parts/VisibleText.tsx'
import { Facts, Row, RowAction, Rows, When } from '../Rows.tsx'
import { Section } from '../Section.tsx'

export function GrantsPart() {
  const client = useClient()
  const grants = useQuery({ queryKey: ['grants'], queryFn: ({ signal }) => client.grants({ signal }) })
  const [revoked, setRevoked] = useState<Grant | null>(null)
  return (
    <Section title="Remembered answers" about="What somebody has decided in advance, so that nobody is asked again.">
      <Rows
        query={grants}
        keyOf={({ grant_id }) => grant_id}
        label="Remembered answers"
        none={
          <>
            Nothing is decided in advance. When you approve or reject something, you can choose <em>Remember</em>.
          </>
        }
      >
        {(grant) => <GrantRow grant={grant} onRevoke={() => setRevoked(grant)} />}
      </Rows>
      {revoked !== null && (
        <Confirm
          title="Revoke this answer?"
          verb="Revoke"
          done="The answer is revoked"
          stale={['grants']}
          act={() => client.revokeGrant(revoked.grant_id)}
          onClose={() => setRevoked(null)}
        >
          <p>
            From now on <bdi>{revoked.agent}</bdi> asks again: <VisibleText inline isRaw text={revoked.label} />. What
            runs already goes on.
          </p>
        </Confirm>
      )}
    </Section>
  )
}

function GrantRow({ grant, onRevoke }: { grant: Grant; onRevoke: () => void }) {
  const { agent, tool, effect, where, label, workspace, owner, scope, session_id } = grant
  const conditions = Object.entries(where).map(([name, condition]) => ({ name, ...whereWords(name, condition) }))
  return (
    <Row
      icon={<ApprovalIcon aria-hidden="true" />}
      title={
        <>
          <VisibleText inline text={agent} /> {effect === 'allow' ? 'may' : 'may not'}:{' '}
          <VisibleText inline isRaw text={workspace === null ? `use ${tool}` : label} />
        </>
      }
      badges={effect === 'allow' ? <Badge tone="good">Allowed</Badge> : <Badge tone="bad">Refused</Badge>}
      action={
        <RowAction label={`Revoke: ${agent}, ${label}`} onClick={onRevoke}>
          Revoke
        </RowAction>
      }
    >
      {conditions.map(({ name, argument, words }) => (
        <p key={name}>
          if {argument === null ? 'the call' : <code>{argument}</code>} <VisibleText inline text={words} />
        </p>
      ))}
      {workspace !== null && (
        <p>
          in <code>{workspace}</code> for <bdi>{owner}</bdi>
        </p>
      )}
      <Facts>
        <span>
          {session_id === null ? (
            scope === 'workspace' ? (
              'In the workspace'
            ) : (
              'In every session'
            )
          ) : (
            <>
              In <Link href={`/sessions/${encodeURIComponent(session_id)}`}>one session</Link>
            </>
          )}
        </span>{' '}
        <span>
          By <bdi>{grant.granted_by}</bdi>, <Link href={`/inbox/${encodeURIComponent(grant.approval_id)}`}>here</Link>,{' '}
          <Time at={grant.created_at} />
        </span>{' '}
        <When at={grant.expires_at} never={session_id === null ? 'Until it is revoked' : 'Until the session ends'}>
          Ends
        </When>
      </Facts>
    </Row>
  )
}

/** `is "ls -la"`, `looks like *.md`, `is above 5`. A condition that only a newer server knows is shown as it is. Hidden characters are marked. */
export function conditionWords(condition: unknown): string {
  const known = condition as GrantCondition
  if (Array.isArray(known)) return `is one of ${known.map(valueWords).join(', ')}`
  if (typeof known !== 'object' || known === null) return `is ${valueWords(known)}`
  if ('equals' in known) return `is ${valueWords(known.equals)}`
  if ('one_of' in known) return `is one of ${known.one_of.map(valueWords).join(', ')}`
  if ('matches' in known) return `looks like ${visibleText(known.matches)}`
  if ('path' in known) return `is a path like ${visibleText(known.path)}`
  if ('above' in known) return `is above ${known.above}`
  if ('below' in known) return `is below ${known.below}`
  if ('not' in known) return `not: ${conditionWords(known.not)}`
  return visibleText(JSON.stringify(condition))
}

/** How many arguments, or entries of an argument, there have to be. */
const COUNT = /^(?:(.*)\.)?#$/

/** One condition as a sentence: the argument, and what it has to be. A null argument: it is about the whole call. */
export function whereWords(name: string, condition: unknown): { argument: string | null; words: string } {
  const counted = COUNT.exec(name)
  if (counted === null) return { argument: visibleText(name), words: conditionWords(condition) }
  const count =
    typeof condition === 'object' && condition !== null && 'equals' in condition ? condition.equals : condition
  if (typeof count !== 'number') return { argument: visibleText(name), words: conditionWords(condition) }
  const [, path] = counted
  const things = path === undefined ? 'argument' : 'entry'
  const words = `has ${count} ${count === 1 ? things : things === 'entry' ? 'entries' : 'arguments'}`
  return { argument: path === undefined ? null : visibleText(path), words }
}

const valueWords = (value: unknown): string =>
  typeof value === 'string' ? `“${visibleText(value)}”` : visibleText(JSON.stringify(value) ?? 'nothing')
