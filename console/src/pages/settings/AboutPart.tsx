import { useQuery } from '@tanstack/react-query'
import { consolePath, serverUrl } from '../../base.ts'
import { useClient } from '../../data/server.tsx'
import { Button } from '../../parts/Button.tsx'
import { SignOutIcon } from '../../parts/icons.ts'
import { signOut } from '../../sign-in/device-token.ts'
import styles from './AboutPart.module.css'
import { Loaded, Section } from './Section.tsx'

export function AboutPart() {
  const client = useClient()
  const me = useQuery({ queryKey: ['me'], queryFn: ({ signal }) => client.me({ signal }) })
  return (
    <Section
      title="About"
      action={
        <Button icon={<SignOutIcon />} onClick={() => void signOut('asked')}>
          Sign out
        </Button>
      }
    >
      <Loaded query={me}>
        {({ user, admin, version, agent }) => (
          <dl className={styles.facts}>
            <Fact name="Signed in as">
              <bdi>{user}</bdi>
              {admin && ', who may decide for everybody'}
            </Fact>
            <Fact name="Version">Quarterdeck {version}</Fact>
            <Fact name="Server">
              <code>{serverUrl}</code>
            </Fact>
            <Fact name="Default agent">{agent === null ? 'None' : <bdi>{agent}</bdi>}</Fact>
            <Fact name="Routes">
              <a href={`${serverUrl}/docs`}>All routes, with examples</a>
            </Fact>
            <Fact name="Licences">
              MIT, and <a href={`${consolePath}/licences.txt`}>those of the packages in this console</a>
            </Fact>
          </dl>
        )}
      </Loaded>
    </Section>
  )
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
