import names from './known-names.json' with { type: 'json' }
import { unpackNames } from './packed-names.ts'

/** The registry of a package name. */
export type Ecosystem = 'pypi' | 'npm'

const words = (list: string) => list.trim().split(/\s+/)

/** Best-known packages, which squatters imitate. Includes genuine packages with similar names. */
export const knownPackages: Readonly<Record<Ecosystem, ReadonlySet<string>>> = {
  pypi: new Set(
    words(`
      requests urllib3 boto boto3 botocore setuptools certifi idna charset-normalizer python-dateutil numpy pandas scipy scapy spacy
      matplotlib seaborn scikit-learn scikit-image tensorflow tensorflow-gpu tensorboard torch torchvision torchaudio keras transformers tokenizers
      datasets accelerate diffusers openai anthropic langchain langchain-core langchain-community llama-index chromadb faiss-cpu tiktoken
      flask django djangorestframework fastapi starlette uvicorn gunicorn aiohttp httpx httpie pydantic pydantic-core sqlalchemy alembic psycopg
      psycopg2 psycopg2-binary pymongo redis celery kombu jinja2 markupsafe click typer colorama rich tqdm pyyaml ruamel.yaml toml tomli
      cryptography pycryptodome pycrypto paramiko pyjwt bcrypt passlib pillow opencv-python opencv-python-headless beautifulsoup4 lxml scrapy selenium playwright
      pytest pytest-cov pytest-asyncio tox black flake8 pylint mypy isort ruff poetry pipenv virtualenv jupyter jupyterlab notebook ipython
      ipykernel nltk gensim sentence-transformers huggingface-hub streamlit gradio plotly dash bokeh sympy networkx statsmodels xgboost lightgbm
      catboost python-dotenv python-docx openpyxl xlrd xlsxwriter reportlab pypdf pypdf2 protobuf grpcio websockets websocket-client simplejson
      orjson ujson attrs marshmallow pytz tzdata tabulate termcolor psutil pyserial pyinstaller pywin32 wheel pip twine build loguru structlog
      google-cloud-storage google-api-python-client azure-storage-blob azure-identity awscli ansible docker kubernetes pyspark dask polars pyarrow
      fasttext prophet jsonschema jmespath dnspython yt-dlp pytube tweepy praw discord discord.py python-telegram-bot
    `),
  ),
  npm: new Set(
    words(`
      react preact react-dom react-native react-router react-router-dom next nuxt vue vuex pinia angular svelte express expressjs lodash lodash-es underscore axios
      request node-fetch chalk commander yargs minimist debug moment dayjs date-fns uuid nanoid classnames webpack webpack-cli vite rollup
      esbuild babel-loader typescript ts-node tslint tslib eslint prettier jest mocha chai sinon vitest cypress playwright puppeteer jsdom jsdoc cheerio
      dotenv cors body-parser cookie-parser morgan helmet passport jsonwebtoken bcrypt bcryptjs mongoose mongodb mysql mysql2 sequelize knex
      prisma typeorm redis ioredis socket.io socket.io-client ws graphql apollo-server nodemon pm2 concurrently cross-env rimraf mkdirp
      glob fs-extra async bluebird rxjs redux react-redux zustand immer styled-components tailwindcss postcss autoprefixer sass node-sass
      less bootstrap jquery d3 three chart.js leaflet electron discord.js stripe openai langchain zod joi yup ajv semver colors color
      inquirer ora winston pino bunyan nodemailer multer sharp jimp formidable form-data qs cookie express-session ejs pug handlebars
      firebase aws-sdk googleapis husky lint-staged serve http-server create-react-app ethers web3 hardhat tsx undici fastify koa
      readable-stream safe-buffer through2 core-js regenerator-runtime npm yarn pnpm turbo lerna
    `),
  ),
}

const listed = { npm: unpackNames(names.npm), pypi: unpackNames(names.pypi) }
const listedScopes = unpackNames(names.npmScopes)
/** Programs that are run by name, and servers of the Model Context Protocol. */
const listedTools = new Set(
  words(`
    create-vite create-vue create-next-app create-react-app create-expo-app create-astro create-svelte create-remix create-t3-app degit sv nuxi
    mcp-remote mcp-proxy fastmcp chrome-devtools-mcp firecrawl-mcp tavily-mcp figma-developer-mcp mongodb-mcp-server n8n-mcp exa-mcp-server
    mcp-server-kubernetes slack-mcp-server playwright-mcp mcp-framework mcp-handler next-devtools-mcp expo-mcp xcodebuildmcp mcp-mermaid
    mcp-server-fetch mcp-server-git mcp-server-sqlite mcp-server-time mcp-server-code-runner mcp-use nx-mcp supergateway shadcn
    bower cowsay serve live-server json-server localtunnel npm-check-updates license-checker depcheck madge tsc ng vsce eas-cli expo-cli
  `),
)

/** Whether a package is among a registry's best known (evals/make-known-names.ts). */
export function isKnownPackage(ecosystem: Ecosystem, name: string): boolean {
  if (ecosystem === 'pypi') {
    const plain = name.replaceAll(/[._]/g, '-')
    return (
      knownPackages.pypi.has(name) ||
      knownPackages.pypi.has(plain) ||
      listed.pypi.has(plain) ||
      listedTools.has(plain)
    )
  }
  if (name.startsWith('@')) return listedScopes.has(name.slice(1).split('/')[0] ?? '')
  return knownPackages.npm.has(name) || listed.npm.has(name) || listedTools.has(name)
}

/** Names that are not the package's own, and so belong to nobody, to a dummy or to somebody else. */
export const wrongNames: Readonly<Record<Ecosystem, ReadonlySet<string>>> = {
  pypi: new Set(
    words(
      'sklearn pytorch huggingface-cli beautifulsoup opencv cv2 pil yaml skimage dateutil fitz dotenv mysqldb google-cloud crypto usb sqlite3 tkinter',
    ),
  ),
  npm: new Set(words('mongo socketio discordjs react-js vue-js angular-js node-js tailwind-css fs')),
}

/** Packages known to have carried malware, by version; without a version: all. */
export const maliciousPackages: Readonly<Record<Ecosystem, ReadonlySet<string>>> = {
  pypi: new Set(
    words(
      'colourama python3-dateutil jeilyfish python-sqlite diango djanga request-s urllib crossenv ctx@0.2.2 ultralytics@8.3.41',
    ),
  ),
  npm: new Set(
    words(
      'crossenv cross-env.js flatmap-stream event-stream@3.3.6 ua-parser-js@0.7.29 ua-parser-js@0.8.0 ua-parser-js@1.0.0 coa@2.0.3 rc@1.2.9 node-ipc@10.1.1 node-ipc@10.1.2 colors@1.4.1 eslint-scope@3.7.2 babelcli d3.js jquery.js mongose nodesass nodefabric',
    ),
  ),
}

/** Hosts of installers that their makers document as piped to a shell. */
export const knownInstallers: ReadonlySet<string> = new Set([
  ...[
    'sh.rustup.rs',
    'get.docker.com',
    'astral.sh',
    'bun.sh',
    'bun.com',
    'deno.land',
    'getcomposer.org',
    'install.python-poetry.org',
    'get.pnpm.io',
  ],
  ...[
    'deb.nodesource.com',
    'rpm.nodesource.com',
    'get.k3s.io',
    'get.helm.sh',
    'ollama.com',
    'fly.io',
    'tailscale.com',
    'get.sdkman.io',
  ],
  ...[
    'sdk.cloud.google.com',
    'raw.githubusercontent.com/homebrew/',
    'raw.githubusercontent.com/nvm-sh/',
    'raw.githubusercontent.com/helm/',
  ],
  ...[
    'raw.githubusercontent.com/ohmyzsh/',
    'bootstrap.pypa.io',
    'community.chocolatey.org',
    'get.scoop.sh',
    'cli.github.com',
    'starship.rs',
  ],
])

/** Public registries. */
export const knownRegistries: ReadonlySet<string> = new Set([
  ...[
    'pypi.org',
    'test.pypi.org',
    'files.pythonhosted.org',
    'download.pytorch.org',
    'pypi.nvidia.com',
    'registry.npmjs.org',
  ],
  ...['registry.yarnpkg.com', 'npm.pkg.github.com'],
])
