import { useQuery } from '@tanstack/react-query'
import type { Passkey } from 'quarterdeck/client'
import { useState } from 'react'
import { useMe } from '../../../data/me.ts'
import { useClient } from '../../../data/server.tsx'
import { useIsLive } from '../../../data/use-live.tsx'
import { Button } from '../../../parts/Button.tsx'
import { Confirm } from '../../../parts/Confirm.tsx'
import { NewIcon, PasskeyIcon } from '../../../parts/icons.ts'
import { hasPasskeys } from '../../../sign-in/passkey.ts'
import { withProof } from '../../../sign-in/step-up.ts'
import { Facts, Row, RowAction, Rows, When } from '../Rows.tsx'
import { Section } from '../Section.tsx'
import { AddPasskey } from './AddPasskey.tsx'

const NOT_HERE = 'This browser has no passkeys, or the page is not in a safe place: open it at localhost or over TLS.'

export function PasskeysPart() {
  const client = useClient()
  const isLive = useIsLive()
  const passkeys = useQuery({ queryKey: ['passkeys'], queryFn: ({ signal }) => client.passkeys.list({ signal }) })
  const { data: me } = useMe()
  const [isAdding, setAdding] = useState(false)
  const [removed, setRemoved] = useState<Passkey | null>(null)
  const whyNot = passkeys.data?.why_not ?? (hasPasskeys() ? null : NOT_HERE)
  return (
    <Section
      title="Passkeys"
      about="A passkey proves that it is you: with a finger, a face, or a key in your pocket. Programs can steal a token, but not that. As soon as one is here, critical approvals, answers remembered for always, new devices and new operator tokens need it, wherever they come from."
      whyNot={whyNot}
      action={
        <Button
          kind="primary"
          icon={<NewIcon />}
          disabled={!isLive || whyNot !== null || passkeys.data === undefined}
          onClick={() => setAdding(true)}
        >
          Add a passkey
        </Button>
      }
    >
      <Rows
        query={{ ...passkeys, data: passkeys.data?.passkeys }}
        keyOf={({ passkey_id }) => passkey_id}
        label="Passkeys"
        none={
          (me?.passkeys.registered ?? 0) > 0
            ? 'You have no passkey. Others have: what needs one is for them to do.'
            : 'Nobody has a passkey, so a token is enough for everything.'
        }
      >
        {(passkey) => <PasskeyRow passkey={passkey} onRemove={() => setRemoved(passkey)} />}
      </Rows>
      {isAdding && <AddPasskey onClose={() => setAdding(false)} />}
      {removed !== null && (
        <Confirm
          title="Remove this passkey?"
          verb="Remove"
          done="The passkey is removed"
          stale={['passkeys', 'me']}
          act={() => withProof({ kind: 'passkey' }, (proof) => client.passkeys.remove(removed.passkey_id, proof))}
          onClose={() => setRemoved(null)}
        >
          <p>
            <bdi>{nameOf(removed)}</bdi> proves nothing here any more. Your device still lists it until you remove it
            there. {me?.passkeys.registered === 1 && 'It is the last one: after this, nothing needs a passkey.'}
          </p>
        </Confirm>
      )}
    </Section>
  )
}

function PasskeyRow({ passkey, onRemove }: { passkey: Passkey; onRemove: () => void }) {
  const { user, created_at, last_used_at } = passkey
  return (
    <Row
      icon={<PasskeyIcon aria-hidden="true" />}
      title={nameOf(passkey)}
      action={
        <RowAction label={`Remove ${nameOf(passkey)}`} onClick={onRemove}>
          Remove
        </RowAction>
      }
    >
      <Facts>
        <bdi>{user}</bdi> <When at={created_at}>Added</When>{' '}
        <When at={last_used_at} never="Never used">
          Used
        </When>
      </Facts>
    </Row>
  )
}

const nameOf = ({ label }: Passkey): string => (label === '' ? 'A passkey without a name' : label)
