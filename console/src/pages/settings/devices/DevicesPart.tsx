import { useQuery } from '@tanstack/react-query'
import type { Device } from 'quarterdeck/client'
import { useState } from 'react'
import { useClient } from '../../../data/server.tsx'
import { useIsLive } from '../../../data/use-live.tsx'
import { Badge } from '../../../parts/Badge.tsx'
import { Button } from '../../../parts/Button.tsx'
import { Confirm } from '../../../parts/Confirm.tsx'
import { DeviceIcon, NewIcon } from '../../../parts/icons.ts'
import { Time } from '../../../parts/Time.tsx'
import { signOut } from '../../../sign-in/device-token.ts'
import { Facts, Row, Rows, When } from '../Rows.tsx'
import { Section } from '../Section.tsx'
import { AddDevice } from './AddDevice.tsx'

export function DevicesPart() {
  const client = useClient()
  const isLive = useIsLive()
  const devices = useQuery({ queryKey: ['devices'], queryFn: ({ signal }) => client.devices.list({ signal }) })
  const [isAdding, setAdding] = useState(false)
  const [revoked, setRevoked] = useState<Device | null>(null)
  return (
    <Section
      title="Devices"
      about="Browsers that are signed in. A device that nobody uses is signed out by itself."
      action={
        <Button kind="primary" icon={<NewIcon />} disabled={!isLive} onClick={() => setAdding(true)}>
          Add a device
        </Button>
      }
    >
      <Rows
        query={{ ...devices, data: devices.data && sorted(devices.data) }}
        keyOf={({ device_id }) => device_id}
        label="Devices"
        none="No browser is signed in with a device of its own."
      >
        {(device) => <DeviceRow device={device} isLive={isLive} onRevoke={() => setRevoked(device)} />}
      </Rows>
      {isAdding && <AddDevice onClose={() => setAdding(false)} />}
      {revoked !== null && (
        <Confirm
          title="Sign this device out?"
          verb="Sign out"
          done="The device is signed out"
          stale={['devices']}
          act={() => client.devices.revoke(revoked.device_id)}
          onClose={() => setRevoked(null)}
        >
          <p>
            <bdi>{nameOf(revoked)}</bdi> is signed out at once. What somebody is writing there is lost.
          </p>
        </Confirm>
      )}
    </Section>
  )
}

function DeviceRow({ device, isLive, onRevoke }: { device: Device; isLive: boolean; onRevoke: () => void }) {
  const { user, created_at, last_used_at, expires_at, kept, current } = device
  return (
    <Row
      icon={<DeviceIcon aria-hidden="true" />}
      title={nameOf(device)}
      badges={current && <Badge tone="accent">This device</Badge>}
      action={
        <Button
          aria-label={current ? 'Sign out' : `Sign out ${nameOf(device)}`}
          disabled={!isLive && !current}
          onClick={() => (current ? void signOut('asked') : onRevoke())}
        >
          Sign out
        </Button>
      }
    >
      <Facts>
        <bdi>{user}</bdi> {!current && <When at={last_used_at}>Used</When>} <When at={created_at}>Signed in</When>{' '}
        <span>
          {kept ? 'Stays signed in' : 'One tab'}, ends <Time at={expires_at} /> if not used
        </span>
      </Facts>
    </Row>
  )
}

const nameOf = ({ label }: Device): string => (label === '' ? 'A browser without a name' : label)

/** This one first, then by last use. */
const sorted = (devices: readonly Device[]): Device[] =>
  devices.toSorted(
    (a, b) => Number(b.current) - Number(a.current) || Date.parse(b.last_used_at) - Date.parse(a.last_used_at),
  )
