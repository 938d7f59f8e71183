import { isSlipOf } from './typosquat.ts'
import type { Judge } from './install.ts'

const words = (list: string) => list.trim().split(/\s+/)

/** Best-known gems, which squatters imitate. */
const gems = words(
  'rails rake rspec sinatra sidekiq devise nokogiri bundler jekyll rubocop capistrano fastlane cocoapods activerecord activesupport actionpack bootstrap sequel httparty faraday thor hanami dotenv kaminari pundit cancancan omniauth capybara factory_bot webmock simplecov bootsnap turbolinks sprockets mongoid graphql',
)
/** Owners of the Go modules that most others need. */
const goOwners = words(
  'gorilla gin-gonic spf13 stretchr sirupsen labstack gofiber go-chi prometheus hashicorp grpc-ecosystem jackc golang uber-go urfave go-redis mattn aws google kubernetes rs gocolly valyala joho lib-pq',
)
/** Publishers of the editor extensions that are most used. */
const publishers = words(
  'ms-python ms-vscode ms-toolsai ms-azuretools ms-dotnettools ms-kubernetes-tools ms-vscode-remote ms-vsliveshare ms-playwright dbaeumer esbenp github golang rust-lang redhat vscodevim eamodio bradlc denoland prisma svelte vue hashicorp charliermarsh astro-build formulahendry ritwickdey streetsidesoftware editorconfig oderwat pkief zhuangtongfa christian-kohler wix graphql angular dart-code vscjava vscode-icons-team mtxr humao mechatroner tamasfe anthropic openai continue saoudrizwan visualstudioexptteam donjayamanne gruntfuggly yzhang davidanson aaron-bond stylelint mikestead tomoki1207 firefox-devtools llvm-vs-code-extensions twxs scala-lang julialang elixir-lsp haskell ocamllabs rebornix shopify sonarsource snyk-security docker biomejs vitest orta',
)
/** Owners of models whose code many people have read. */
const modelOwners =
  /["'](?:microsoft|qwen|deepseek-ai|thudm|zai-org|mosaicml|databricks|nvidia|google|meta-llama|mistralai|facebook|openai|openai-community|stabilityai|baai|internlm|baichuan-inc|jinaai|nomic-ai|salesforce|ibm-granite|apple|allenai|tiiuae|bigcode|bigscience|eleutherai|huggingfacetb|huggingfaceh4|sentence-transformers|xai-org|moonshotai|cohereforai|ai21labs|alibaba-nlp|openbmb|01-ai)\/[\w.-]{1,80}["']/i

/** True if code of a model is run whose owner is well known. */
export const isOfKnownOwner = (around: string): boolean => modelOwners.test(around)

/** Registries and formats beside npm and PyPI. */
export const furtherSources: readonly (readonly [RegExp, Judge])[] = [
  [
    /\b(?:gem|bundle)\s+(?:install|add)\s+(?:-\S{1,20}\s+){0,3}([a-z][\w-]{2,60})/gi,
    ([, name = '']) => (isImitation(name, gems) ? { value: 4, kind: 'imitated_name' } : null),
  ],
  [
    /\bgo\s+(?:get|install)\s+(?:-\w{1,6}\s+){0,3}github\.com\/([\w.-]{2,60})\//gi,
    ([, owner = '']) => (isImitation(owner, goOwners) ? { value: 4, kind: 'imitated_name' } : null),
  ],
  [
    /\bdocker\s+run\b(?=[^\n;|&]{0,200}(?:--privileged|-v\s?\/:|docker\.sock|--pid[ =]host))[^\n;|&]{0,200}?\s([a-z0-9][\w.-]{1,60}\/[\w./-]{1,80})(?=[:@\s`"']|$)/gi,
    () => ({ value: 4, kind: 'unknown_image_with_rights' }),
  ],
  [
    /\b(?:code|codium|cursor)\s+--install-extension\s+["']?(?:([\w-]{2,60})\.[\w.-]{2,80}|(https?:\/\/\S{4,200}|\S{1,120}\.vsix))/gi,
    ([, publisher]) => {
      const name = publisher?.toLowerCase()
      if (name === undefined) return { value: 3, kind: 'extension' }
      if (publishers.includes(name)) return { value: 2, kind: 'known_extension' }
      return isImitation(name, publishers)
        ? { value: 4, kind: 'imitated_name' }
        : { value: 3, kind: 'extension' }
    },
  ],
  [
    /\b(?:pickle|joblib|dill|cloudpickle)\.loads?\([^\n]{0,120}(?:requests\.get|urlopen|urlretrieve|response\.content|\br\.content)/gi,
    () => ({ value: 4, kind: 'pickle_from_network' }),
  ],
  [
    /\b(?:curl|wget)\s[^\n|;]{0,200}https?:\/\/(?!huggingface\.co\/)[^\s"'|;]{1,200}\.(?:pkl|pickle|joblib|pt|pth|ckpt)\b/gi,
    () => ({ value: 4, kind: 'pickle_from_network' }),
  ],
  [/\btorch\.load\([^\n]{0,160}weights_only\s*=\s*False/gi, () => ({ value: 3, kind: 'pickle' })],
]

function isImitation(given: string, known: readonly string[]): boolean {
  const name = given.toLowerCase()
  return !known.includes(name) && known.some((target) => isSlipOf(name, target))
}
