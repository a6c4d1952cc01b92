import { useQuery } from '@tanstack/react-query'
import { correction, generate } from 'lean-qr'
import { toSvgPath } from 'lean-qr/extras/svg'
import type { Code, Device, Me } from 'quarterdeck/client'
import { useMemo, useState } from 'react'
import { consolePath } from '../../../base.ts'
import { useMe } from '../../../data/me.ts'
import { useClient } from '../../../data/server.tsx'
import { useIsLive } from '../../../data/use-live.tsx'
import { given } from '../../../given.ts'
import { ErrorNotice } from '../../../parts/approval/Problem.tsx'
import { Button } from '../../../parts/Button.tsx'
import { CopyText } from '../../../parts/CopyText.tsx'
import { Dialog, DialogButtons } from '../../../parts/Dialog.tsx'
import { Options, Select, TextField } from '../../../parts/Field.tsx'
import { duration, useNow } from '../../../parts/Time.tsx'
import { useAction } from '../../../parts/use-action.ts'
import { withProof } from '../../../sign-in/step-up.ts'
import { Switch } from '../Choice.tsx'
import styles from './AddDevice.module.css'

/** How often it looks whether the new device is there. */
const LOOK_MS = 3_000

/** A link that signs another device in, as text and as a picture for its camera. */
export function AddDevice({ onClose }: { onClose: () => void }) {
  const client = useClient()
  const isLive = useIsLive()
  const { data: me } = useMe()
  const [user, setUser] = useState<string | null>(null)
  const [keep, setKeep] = useState(true)
  const [code, setCode] = useState<Code | null>(null)
  const { isBusy, error, run } = useAction()
  const whose = user ?? me?.user

  const make = () =>
    run(async () => {
      const someone = given({ user: whose === me?.user ? null : whose })
      const made = await withProof({ kind: 'device_code' }, (proof) =>
        client.devices.makeCode({ ...someone, ...proof }),
      )
      setCode(made)
    })
  return (
    <Dialog
      title="Add a device"
      onClose={onClose}
      actions={
        code === null ? (
          <DialogButtons onCancel={onClose} isBusy={isBusy} disabled={!isLive} onClick={() => void make()}>
            Make a link
          </DialogButtons>
        ) : (
          <Button onClick={onClose}>Close</Button>
        )
      }
    >
      {code === null ? (
        <>
          <p>You get a link that signs in one other browser, on a phone for example.</p>
          <Switch
            name="It stays signed in"
            about="Until nobody has used it for 30 days. Otherwise for as long as its tab is open."
            isOn={keep}
            onChange={setKeep}
          />
          {me !== undefined && <Whose me={me} value={whose ?? me.user} onChange={setUser} />}
        </>
      ) : (
        <Made
          key={code.code}
          link={deviceLink(code.url, new URL(consolePath, location.href).href, keep)}
          expiresAt={Date.parse(code.expires_at)}
          isBusy={isBusy}
          onAgain={() => void make()}
        />
      )}
      <ErrorNotice error={error} />
    </Dialog>
  )
}

/** People decide under their own name, so a device belongs to one of them. */
function Whose({ me, value, onChange }: { me: Me; value: string; onChange: (user: string) => void }) {
  const names = [...new Set([me.user, ...me.operators])]
  // Members of a group are not on the list.
  const hasGroups = me.admin && (me.signed_in_by === 'proxy' || me.signed_in_by === 'oidc')
  if (names.length < 2 && !hasGroups) return null
  const list = (
    <Select label="Whose device is it?" value={value} onChange={({ target }) => onChange(target.value)}>
      <Options of={names.map((name) => [name, name === me.user ? `${name} (you)` : name])} />
    </Select>
  )
  if (!hasGroups) return list
  return (
    <>
      {list}
      <TextField
        label="Or somebody else’s"
        help="Their name at your identity provider, such as corp:ada. With the link they add their first passkey."
        maxLength={200}
        value={names.includes(value) ? '' : value}
        onChange={({ target }) => onChange(target.value.trim() === '' ? me.user : target.value.trim())}
      />
    </>
  )
}

interface MadeProps {
  link: DeviceLink
  expiresAt: number
  isBusy: boolean
  onAgain: () => void
}

function Made({ link, expiresAt, isBusy, onAgain }: MadeProps) {
  const left = expiresAt - useNow()
  const arrived = useArrived()
  if (arrived !== null) {
    return (
      <p role="status">
        <strong>
          <bdi>{arrived.label === '' ? 'The device' : arrived.label}</bdi>
        </strong>{' '}
        is signed in.
      </p>
    )
  }
  if (left <= 0) {
    return (
      <>
        <p role="status">The link is too old. Nobody has used it.</p>
        <Button isBusy={isBusy} onClick={onAgain}>
          Make a new one
        </Button>
      </>
    )
  }
  return (
    <>
      <div className={styles.picture}>
        <QrPicture text={link.url} label="The link as a QR code" />
      </div>
      <CopyText text={link.url} what="link" />
      <p className={styles.left}>
        It works once, for {duration(Math.ceil(left / 1_000) * 1_000)}. Whoever opens it is signed in.
      </p>
      {link.isLocal && (
        <p className={styles.left}>
          This link works only on this machine. For a phone, give the server a name that it can reach:{' '}
          <code>public_url</code> in <code>quarterdeck.yaml</code>.
        </p>
      )}
    </>
  )
}

/** The device that has signed in since this was opened. */
function useArrived(): Device | null {
  const client = useClient()
  const [known, setKnown] = useState<ReadonlySet<string> | null>(null)
  const { data } = useQuery({
    queryKey: ['devices'],
    queryFn: ({ signal }) => client.devices.list({ signal }),
    refetchInterval: LOOK_MS,
  })
  if (data !== undefined && known === null) setKnown(new Set(data.map(({ device_id }) => device_id)))
  return data?.find(({ device_id }) => known !== null && !known.has(device_id)) ?? null
}

/** Cameras need a quiet frame of four modules around the code. */
const FRAME = 4

/** Dark on light in both themes: many cameras do not read it the other way round. */
function QrPicture({ text, label }: { text: string; label: string }) {
  const { size, path } = useMemo(() => qrPicture(text), [text])
  return (
    <svg
      viewBox={`${-FRAME} ${-FRAME} ${size + 2 * FRAME} ${size + 2 * FRAME}`}
      role="img"
      aria-label={label}
      className={styles.code}
      shapeRendering="crispEdges"
    >
      <path d={path} fill="currentColor" />
    </svg>
  )
}

/** 15 % of it may be unreadable. */
export function qrPicture(text: string): { size: number; path: string } {
  const code = generate(text, { minCorrectionLevel: correction.M })
  return { size: code.size, path: toSvgPath(code) }
}

const LOCAL = /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/

interface DeviceLink {
  url: string
  /** The link leads to the machine on which it is opened, so only a browser on the server's machine can use it. */
  isLocal: boolean
}

/**
 * The link for another device. The server knows its own name only if the settings say so; if it does not, but this browser has reached it
 * by a name, that name is the better one.
 */
export function deviceLink(made: string, consoleUrl: string, keep: boolean): DeviceLink {
  const [theirs, ours] = [new URL(made), new URL(consoleUrl)]
  const better = LOCAL.test(theirs.hostname) && !LOCAL.test(ours.hostname) ? ours : theirs
  better.hash = keep ? `${theirs.hash}&keep` : theirs.hash
  return { url: better.href, isLocal: LOCAL.test(better.hostname) }
}
