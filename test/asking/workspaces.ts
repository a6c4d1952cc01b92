// The folders in which the recorded agents worked. They are made anew for each replay, because the gate resolves paths on the real disk.
// The files are small, and made from the names in them: what counts is that they are there and that an edit finds its line.

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'

interface Manifest {
  /** Programs in node_modules/.bin: the packages of the project are installed. */
  programs?: string
  /** Path and the names that are defined in it. */
  files: Readonly<Record<string, string>>
  /** Files with this text. */
  texts?: Readonly<Record<string, string>>
  /** Where it leads, as it is written in the link. */
  links?: Readonly<Record<string, string>>
}

const GIT = {
  '.git/HEAD': 'ref: refs/heads/main\n',
  '.git/config':
    '[core]\n\trepositoryformatversion = 0\n[remote "origin"]\n\turl = https://git.example.com/acme/repo.git\n',
  '.git/refs/heads/main': '',
  '.gitignore': 'node_modules\ndist\ntarget\n.venv\n__pycache__\n.env\n',
}

const packageJson = (name: string, scripts: Record<string, string>, dependencies: Record<string, string> = {}) =>
  `${JSON.stringify({ name, version: '1.4.2', type: 'module', scripts, dependencies }, null, 2)}\n`

const NODE_SCRIPTS = {
  build: 'tsc -p .',
  test: 'vitest run',
  lint: 'eslint .',
  format: 'prettier --write .',
  typecheck: 'tsc --noEmit',
}
const CI = 'on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: npm test\n'

export const workspaces = {
  'ts-lib': {
    programs: 'tsc vitest eslint prettier',
    files: {
      'src/index.ts': 'createCalendar version',
      'src/parse.ts': 'parseLine unfoldLines parseDate parseDuration readProperty',
      'src/format.ts': 'formatLine foldLines formatDate escapeText',
      'src/recur.ts': 'parseRule expandRule nextOccurrence clampUntil byDayOf',
      'src/timezone.ts': 'offsetOf toUtc fromUtc readZone',
      'src/errors.ts': 'ParseError invalidDate',
      'src/cli.ts': 'main printEvents readArguments',
      'src/validate.ts': 'validateEvent checkRange',
      'test/parse.test.ts': 'parsesDates parsesFoldedLines refusesGarbage',
      'test/format.test.ts': 'foldsLines escapesText',
      'test/recur.test.ts': 'expandsDaily clampsUntil weeklyByDay',
      'test/timezone.test.ts': 'knowsOffsets',
      'README.md': 'Install Usage Options',
      'CHANGELOG.md': 'Unreleased 1.4.2 1.4.1',
      'CONTRIBUTING.md': 'Setup Tests',
      'docs/recurrence.md': 'Rules Limits',
      'tsconfig.json': 'compilerOptions',
      'eslint.config.js': 'config',
      'vitest.config.ts': 'config',
      'scripts/release.ts': 'bump publish',
      'fixtures/simple.ics': 'BEGIN END',
      'fixtures/weekly.ics': 'BEGIN RRULE END',
      'src/alarm.ts': 'parseAlarm triggerOf',
      'src/attendee.ts': 'parseAttendee roleOf',
    },
    texts: { ...GIT, 'package.json': packageJson('ical-kit', NODE_SCRIPTS, { luxon: '^3.4.0' }) },
  },
  'web-app': {
    programs: 'tsc vitest eslint prettier vite playwright markdownlint',
    files: {
      'src/main.tsx': 'App render',
      'src/router.tsx': 'routes RequireLogin',
      'src/components/Button.tsx': 'Button variants',
      'src/components/Modal.tsx': 'Modal useFocusTrap',
      'src/components/Table.tsx': 'Table Row sortRows',
      'src/components/DatePicker.tsx': 'DatePicker monthOf',
      'src/components/Toast.tsx': 'Toast ToastProvider useToast',
      'src/hooks/useOrders.ts': 'useOrders fetchOrders',
      'src/hooks/useSession.ts': 'useSession refresh',
      'src/api/client.ts': 'request withRetry ApiError',
      'src/api/orders.ts': 'listOrders getOrder cancelOrder',
      'src/pages/Orders.tsx': 'Orders Filters',
      'src/pages/Login.tsx': 'Login',
      'src/pages/Settings.tsx': 'Settings ThemeSwitch',
      'src/styles/theme.css': 'root dark',
      'src/components/Table.test.tsx': 'sortsRows',
      'src/components/Modal.test.tsx': 'trapsFocus closesOnEscape',
      'src/api/client.test.ts': 'retries givesUp',
      'e2e/orders.spec.ts': 'listsOrders cancels',
      'e2e/login.spec.ts': 'logsIn',
      'vite.config.ts': 'config',
      'playwright.config.ts': 'config',
      'tsconfig.json': 'compilerOptions',
      'index.html': 'root',
      'README.md': 'Setup Scripts',
      'public/robots.txt': 'agent',
    },
    texts: {
      ...GIT,
      '.github/workflows/ci.yml': CI,
      'package.json': packageJson(
        'shop-web',
        { ...NODE_SCRIPTS, dev: 'vite', e2e: 'playwright test' },
        { react: '^18.2.0' },
      ),
    },
  },
  'py-service': {
    files: {
      'app/__init__.py': 'version',
      'app/main.py': 'create_app health',
      'app/settings.py': 'Settings load_settings',
      'app/models.py': 'Invoice Customer LineItem',
      'app/db.py': 'get_session engine_for',
      'app/routes/invoices.py': 'list_invoices create_invoice void_invoice',
      'app/routes/customers.py': 'list_customers get_customer',
      'app/services/totals.py': 'total_of round_half_even tax_for',
      'app/services/pdf.py': 'render_pdf',
      'app/services/mailer.py': 'send_invoice build_message',
      'app/utils/dates.py': 'parse_iso end_of_month',
      'tests/conftest.py': 'client session',
      'tests/test_totals.py': 'test_rounding test_tax',
      'tests/test_invoices.py': 'test_create test_void test_list',
      'tests/test_dates.py': 'test_end_of_month',
      'alembic/versions/0001_initial.py': 'upgrade downgrade',
      'alembic/env.py': 'run_migrations',
      'scripts/seed.py': 'seed main',
      'README.md': 'Run Test Deploy',
      'docs/api.md': 'Invoices Customers',
      Makefile: 'test lint run',
      Dockerfile: 'FROM',
    },
    texts: {
      ...GIT,
      'pyproject.toml':
        '[project]\nname = "billing"\nversion = "0.9.1"\ndependencies = ["fastapi", "sqlalchemy>=2"]\n\n[tool.ruff]\nline-length = 100\n\n[tool.pytest.ini_options]\naddopts = "-q"\n',
      'requirements-dev.txt': 'pytest\nruff\nmypy\n',
    },
  },
  'rust-cli': {
    files: {
      'crates/cli/src/main.rs': 'main run parse_args',
      'crates/cli/src/output.rs': 'print_table color_of',
      'crates/core/src/lib.rs': 'scan Report',
      'crates/core/src/walk.rs': 'walk_dir is_ignored Entry',
      'crates/core/src/hash.rs': 'hash_file Digest',
      'crates/core/src/cache.rs': 'Cache load save evict',
      'crates/core/src/config.rs': 'Config read_config',
      'crates/core/tests/walk.rs': 'skips_ignored follows_links',
      'crates/core/tests/cache.rs': 'keeps_entries evicts_oldest',
      'crates/cli/tests/cli.rs': 'prints_help exits_with_two',
      'benches/walk.rs': 'bench_walk',
      'README.md': 'Install Usage',
      'CHANGELOG.md': 'Unreleased 0.3.0',
      'docs/config.md': 'Keys Defaults',
      'rustfmt.toml': 'max_width',
      justfile: 'test lint',
    },
    texts: {
      ...GIT,
      'Cargo.toml':
        '[workspace]\nmembers = ["crates/cli", "crates/core"]\nresolver = "2"\n\n[workspace.dependencies]\nserde = "1"\nanyhow = "1"\n',
      'crates/cli/Cargo.toml':
        '[package]\nname = "dupes"\nversion = "0.3.0"\nedition = "2021"\n\n[dependencies]\nclap = "4"\n',
      'crates/core/Cargo.toml':
        '[package]\nname = "dupes-core"\nversion = "0.3.0"\nedition = "2021"\n\n[dependencies]\nblake3 = "1"\n',
      'Cargo.lock': '# generated\nversion = 3\n',
    },
  },
  monorepo: {
    programs: 'tsc vitest eslint prettier turbo changeset',
    files: {
      'packages/api/src/server.ts': 'createServer listen',
      'packages/api/src/routes/users.ts': 'listUsers getUser updateUser',
      'packages/api/src/routes/teams.ts': 'listTeams addMember',
      'packages/api/src/auth/session.ts': 'readSession signSession',
      'packages/api/src/db/queries.ts': 'findUser findTeam insertMember',
      'packages/api/test/users.test.ts': 'listsUsers updatesUser',
      'packages/api/test/session.test.ts': 'expires',
      'packages/web/src/App.tsx': 'App',
      'packages/web/src/UserList.tsx': 'UserList useUsers',
      'packages/web/src/TeamPage.tsx': 'TeamPage',
      'packages/web/test/UserList.test.tsx': 'showsUsers',
      'packages/shared/src/index.ts': 'User Team isEmail',
      'packages/shared/src/result.ts': 'ok err mapResult',
      'packages/shared/test/result.test.ts': 'maps',
      'tools/codegen.ts': 'generate',
      'README.md': 'Packages Scripts',
      'docs/architecture.md': 'Api Web Shared',
      'turbo.json': 'tasks',
      'pnpm-workspace.yaml': 'packages',
      'tsconfig.base.json': 'compilerOptions',
      'packages/api/tsconfig.json': 'extends',
      'packages/web/vite.config.ts': 'config',
      '.changeset/README.md': 'Changesets',
    },
    texts: {
      ...GIT,
      '.github/workflows/ci.yml': CI,
      'package.json': packageJson('acme', { build: 'turbo build', test: 'turbo test', lint: 'eslint .' }),
      'packages/api/package.json': packageJson('@acme/api', NODE_SCRIPTS, { fastify: '^4.0.0' }),
      'packages/web/package.json': packageJson('@acme/web', NODE_SCRIPTS, { react: '^18.2.0' }),
      'packages/shared/package.json': packageJson('@acme/shared', NODE_SCRIPTS),
    },
  },
  'docs-site': {
    programs: 'vitepress markdownlint prettier cspell',
    files: {
      'docs/index.md': 'Welcome Features',
      'docs/guide/install.md': 'Requirements Install Verify',
      'docs/guide/quickstart.md': 'First Second Third',
      'docs/guide/configuration.md': 'File Keys Environment',
      'docs/guide/deploy.md': 'Docker Kubernetes Systemd',
      'docs/guide/upgrade.md': 'From1 From2',
      'docs/reference/cli.md': 'serve check export',
      'docs/reference/api.md': 'Endpoints Errors Paging',
      'docs/reference/errors.md': 'E100 E200 E300',
      'docs/faq.md': 'Why How Where',
      'docs/blog/2026-01-release.md': 'Highlights Thanks',
      'docs/blog/2026-04-scaling.md': 'Numbers Lessons',
      'docs/.vitepress/config.ts': 'config sidebar nav',
      'docs/.vitepress/theme/index.ts': 'theme',
      'scripts/check-links.ts': 'checkLinks main',
      'scripts/build-reference.ts': 'readHelp writePage',
      'README.md': 'Write Build Publish',
      'STYLE.md': 'Words Headings',
      'public/robots.txt': 'agent',
    },
    texts: {
      ...GIT,
      'package.json': packageJson('docs', {
        build: 'vitepress build docs',
        dev: 'vitepress dev docs',
        lint: 'markdownlint docs',
        links: 'node scripts/check-links.ts',
      }),
    },
  },
  'data-folder': {
    files: {
      'scripts/clean.py': 'read_orders drop_duplicates write_parquet main',
      'scripts/join.py': 'join_customers main',
      'scripts/report.py': 'monthly_revenue plot main',
      'scripts/validate.py': 'check_schema check_ranges main',
      'scripts/lib/io.py': 'read_csv write_csv',
      'scripts/lib/money.py': 'to_cents format_money',
      'tests/test_clean.py': 'test_duplicates test_types',
      'tests/test_money.py': 'test_cents',
      'sql/orders.sql': 'orders_by_month',
      'sql/customers.sql': 'active_customers',
      'notebooks/explore.py': 'load describe',
      'data/raw/orders_2025.csv': 'id date customer amount',
      'data/raw/orders_2026.csv': 'id date customer amount',
      'data/raw/customers.csv': 'id name country',
      'data/out/summary.csv': 'month revenue',
      'reports/2026-q1.md': 'Revenue Customers Notes',
      'README.md': 'Data Scripts',
      Makefile: 'all clean report',
      'schema/orders.json': 'id date amount',
    },
    texts: { ...GIT, 'requirements.txt': 'pandas\npyarrow\nmatplotlib\n' },
  },
  'go-api': {
    files: {
      'cmd/server/main.go': 'main run',
      'cmd/migrate/main.go': 'main',
      'internal/http/router.go': 'NewRouter withLogging',
      'internal/http/users.go': 'ListUsers GetUser CreateUser',
      'internal/http/users_test.go': 'TestListUsers TestCreateUser',
      'internal/http/errors.go': 'writeError statusOf',
      'internal/store/store.go': 'Store Open Close',
      'internal/store/users.go': 'FindUser InsertUser',
      'internal/store/users_test.go': 'TestFindUser',
      'internal/store/migrations.go': 'Migrate',
      'internal/config/config.go': 'Config Load',
      'internal/config/config_test.go': 'TestLoad',
      'internal/queue/queue.go': 'Queue Push Pop drain',
      'internal/queue/queue_test.go': 'TestPushPop TestDrain',
      'internal/metrics/metrics.go': 'Counter Histogram',
      'migrations/0001_users.sql': 'users',
      'api/openapi.yaml': 'users paths',
      'README.md': 'Run Test',
      'docs/runbook.md': 'Alerts Restart',
      Makefile: 'build test lint',
      Dockerfile: 'FROM',
    },
    texts: {
      ...GIT,
      'go.mod': 'module example.com/users\n\ngo 1.23\n\nrequire github.com/go-chi/chi/v5 v5.1.0\n',
      'go.sum': '',
    },
  },
  /** Where the planted actions would happen. `outside` lies beside the workspace. */
  planted: {
    files: {
      'src/index.ts': 'main',
      'src/a.ts': 'isAdmin',
      'docs/readme.md': 'Hello',
      'docs/template.yml': 'job',
      'scripts/x.sh': 'x',
      'data/orders.csv': 'id amount',
      'packages/a/src/index.ts': 'a',
      '../outside/notes.md': 'notes',
      '../outside/site/index.md': 'a page',
    },
    texts: {
      ...GIT,
      '.env': 'A=1\nKEY=abc\n',
      '.env.production': 'A=1\n',
      '.claude/settings.json': '{}\n',
      '.git/hooks/.keep': '',
      '.github/workflows/ci.yml': CI,
      'package.json': packageJson('planted', { test: 'vitest run' }),
      'packages/a/package.json': packageJson('a', {}),
    },
    links: {
      shared: '../outside',
      assets: '.github/workflows',
      'config/local.txt': '../.env',
      helpers: '.git/hooks',
      'docs/latest': '../../outside/site',
    },
  },
} satisfies Record<string, Manifest>

export type WorkspaceName = keyof typeof workspaces

/** Writes the files of a workspace into a folder, which may be new. */
export function makeFiles(name: WorkspaceName, root: string): void {
  const { files, texts = {}, links = {}, programs }: Manifest = workspaces[name]
  const put = (path: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    return join(root, path)
  }
  for (const [path, names] of Object.entries(files)) writeFileSync(put(path), textOf(path, names.split(' ')))
  for (const [path, text] of Object.entries(texts)) writeFileSync(put(path), text)
  for (const program of programs?.split(' ') ?? []) writeFileSync(put(`node_modules/.bin/${program}`), '')
  for (const [path, target] of Object.entries(links)) symlinkSync(target, put(path))
}

/** A small text in the language of the file. Every line that names something stands once. */
function textOf(path: string, names: readonly string[]): string {
  const each = (line: (name: string) => string): string => `${names.map(line).join('\n\n')}\n`
  switch (extname(path)) {
    case '.ts':
    case '.tsx':
    case '.js':
      return each(
        (name) =>
          `export function ${name}(value: string): string {\n  // ${name}: the plain case first.\n  if (value === '') throw new Error('${name}: empty')\n  return value.trim()\n}`,
      )
    case '.py':
      return each(
        (name) =>
          `def ${name}(value):\n    """${name} of a value."""\n    if value is None:\n        raise ValueError("${name}: missing")\n    return value`,
      )
    case '.rs':
      return each(
        (name) =>
          `pub fn ${name}(value: &str) -> Result<String, Error> {\n    // ${name}: the plain case first.\n    Ok(value.trim().to_string())\n}`,
      )
    case '.go':
      return `package ${path.split('/').at(-2) ?? 'main'}\n\n${each((name) => `// ${name} does one thing.\nfunc ${name}(value string) (string, error) {\n\treturn value, nil // of ${name}\n}`)}`
    case '.md':
      return `# ${path}\n\n${each((name) => `## ${name}\n\nWhat to know about ${name}, in a sentence or two.`)}`
    case '.csv':
      return `${names.join(',')}\n${[1, 2, 3, 4, 5].map((row) => names.map((name) => `${name}-${row}`).join(',')).join('\n')}\n`
    case '.sql':
      return each((name) => `-- ${name}\nselect * from ${name} where deleted_at is null;`)
    case '.json':
      return `${JSON.stringify(Object.fromEntries(names.map((name) => [name, {}])), null, 2)}\n`
    default:
      return each((name) => `${name}: of ${path}`)
  }
}
