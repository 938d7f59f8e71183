{{- define "sluice.name" -}}
{{- printf "%s" .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{- define "sluice.selector" -}}
app.kubernetes.io/name: sluice
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .process }}
{{- end }}

{{- define "sluice.labels" -}}
{{ include "sluice.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{- define "sluice.image" -}}
{{- $repository := required "image.repository: where is the image?" .Values.image.repository -}}
{{- with .Values.image.digest }}{{ printf "%s@%s" $repository . }}{{ else }}{{ printf "%s:%s" $repository (.Values.image.tag | default .Chart.AppVersion) }}{{ end -}}
{{- end }}

{{/* The rows of schemas/services.ts that the chart runs; infra/helm/made-files.test.ts writes the file. */}}
{{- define "sluice.services" -}}
{{ .Files.Get "files/services.json" }}
{{- end }}

{{/* The row of one process. The migration has no row of its own. */}}
{{- define "sluice.service" -}}
{{- $process := .process -}}
{{- $found := dict "name" "migrate" "database" true "kafka" true -}}
{{- range include "sluice.services" .root | fromJsonArray }}{{ if eq .name $process }}{{ $found = . }}{{ end }}{{ end -}}
{{- $found | toJson -}}
{{- end }}

{{- define "sluice.portOf" -}}
{{ regexFind ":[0-9]+$" (urlParse .).host | trimPrefix ":" | default (hasPrefix "https:" . | ternary "443" "80") }}
{{- end }}

{{/* The secrets of Kafka's login. */}}
{{- define "sluice.kafkaLogin" -}}
{{- if eq .Values.kafka.sasl "oauthbearer" }}{{ list "KAFKA_OAUTH_CLIENT_ID" "KAFKA_OAUTH_CLIENT_SECRET" | toJson -}}
{{- else }}{{ list "KAFKA_SASL_USERNAME" "KAFKA_SASL_PASSWORD" | toJson }}{{ end -}}
{{- end }}

{{- define "sluice.databaseVariables" -}}
{{- $all := dict -}}
{{- with .Values.database }}{{ if .host -}}
{{- $_ := set $all "DATABASE_HOST" .host -}}
{{- $_ := set $all "DATABASE_PORT" (int64 .port | toString) -}}
{{- $_ := set $all "DATABASE_NAME" .name -}}
{{- if .tls }}{{ $_ := set $all "DATABASE_SSL" "true" }}{{ end -}}
{{- with .user }}{{ $_ := set $all "DATABASE_USER" . }}{{ end -}}
{{- end }}{{ end -}}
{{- $all | toJson -}}
{{- end }}

{{- define "sluice.databaseSecrets" -}}
{{- if not .Values.database.host }}{{ list "DATABASE_URL" "DATABASE_SSL_CA" | toJson -}}
{{- else if .Values.database.user }}{{ list "DATABASE_PASSWORD" "DATABASE_SSL_CA" | toJson -}}
{{- else }}{{ list "DATABASE_USER" "DATABASE_PASSWORD" "DATABASE_SSL_CA" | toJson }}{{ end -}}
{{- end }}

{{/* The key of a Secret that has a variable: `name`, `key`, `optional`. */}}
{{- define "sluice.secretKey" -}}
{{- $own := get .root.Values .process -}}
{{- $from := merge (dict) ($own.secretsFrom | default dict) .root.Values.secrets.from -}}
{{- $isOptional := has .variable (include "sluice.requiredSecrets" .root | fromJsonArray) | not -}}
{{- if hasKey $from .variable }}{{ merge (dict "optional" $isOptional) (get $from .variable) | toJson -}}
{{- else }}{{ dict "name" (include "sluice.secretName" .) "key" .variable "optional" $isOptional | toJson }}{{ end -}}
{{- end }}

{{/* Which secrets a process uses. Nobody is given what another uses. */}}
{{- define "sluice.secrets" -}}
{{- $database := include "sluice.databaseSecrets" .root | fromJsonArray -}}
{{- $kafka := concat (list "KAFKA_SSL_CA" "KAFKA_SSL_CERT" "KAFKA_SSL_KEY") (include "sluice.kafkaLogin" .root | fromJsonArray) -}}
{{- if not .root.Values.registryUrl }}{{ $kafka = append $kafka "SCHEMA_REGISTRY_URL" }}{{ end -}}
{{- $gateway := list "PROXY_API_KEY" "SERVICE_API_KEY" "SPOOL_KEY" "UPSTREAM_API_KEY" "UPSTREAM_CLIENT_SECRET" "REDTEAM_MARK_SECRET" -}}
{{- if eq (.root.Values.gateway.env.GATEWAY_AUTH | default "") "project_keys" }}{{ $gateway = append $gateway "INTERNAL_API_SECRET" }}{{ end -}}
{{- if eq (.root.Values.gateway.env.GATEWAY_DELIVERY | default "") "kafka" }}{{ $gateway = concat $gateway $kafka (list "BODY_ENCRYPTION_KEYS" "SEARCH_KEY") }}{{ end -}}
{{- $own := dict
  "gateway" $gateway
  "api" (list "INTERNAL_API_SECRET" "BODY_ENCRYPTION_KEYS" "SEARCH_KEY" "STRIPE_API_KEY" "PAYMENT_WEBHOOK_SECRET")
  "scorer" (list "BODY_ENCRYPTION_KEYS" "OPENAI_API_KEY" "JUDGE_ENDPOINT_KEYS" "JUDGE_MARK_SECRET")
  "notifier" (list "BODY_ENCRYPTION_KEYS" "WEBHOOK_CA" "AUDIT_STREAM_HEADER")
  "redteam" (list "BODY_ENCRYPTION_KEYS" "INTERNAL_API_SECRET" "REDTEAM_TARGET_KEYS" "REDTEAM_MARK_SECRET" "REDTEAM_ATTACKER_KEY")
  "dashboard" (list "INTERNAL_API_SECRET" "DASHBOARD_ADMIN_PASSWORD" "OIDC_CLIENT_SECRET") -}}
{{- $service := include "sluice.service" . | fromJson -}}
{{- concat (ternary $database list $service.database) (ternary $kafka list $service.kafka) (get $own .process | default list) | toJson -}}
{{- end }}

{{/* Without these a process does not start; without the others it does less, or says itself what is missing. A misspelt key of the Secret must not mean unencrypted bodies. */}}
{{- define "sluice.requiredSecrets" -}}
{{- $gateway := .Values.gateway.env -}}
{{- $required := list (empty .Values.database.host | not | ternary "DATABASE_PASSWORD" "DATABASE_URL") "INTERNAL_API_SECRET" "BODY_ENCRYPTION_KEYS" "SPOOL_KEY" -}}
{{- if ne ($gateway.GATEWAY_AUTH | default "") "project_keys" }}{{ $required = concat $required (list "PROXY_API_KEY" "SERVICE_API_KEY") }}{{ end -}}
{{- $required = append $required (ternary "UPSTREAM_CLIENT_SECRET" "UPSTREAM_API_KEY" (eq ($gateway.UPSTREAM_AUTH | default "") "client_credentials")) -}}
{{- if ne .Values.kafka.sasl "none" }}{{ $required = concat $required (include "sluice.kafkaLogin" . | fromJsonArray) }}{{ end -}}
{{- if not .Values.registryUrl }}{{ $required = append $required "SCHEMA_REGISTRY_URL" }}{{ end -}}
{{- concat $required .Values.secrets.require | toJson -}}
{{- end }}

{{/* A setting that a process may have for itself instead of the common one, as JSON. */}}
{{- define "sluice.replaced" -}}
{{- $own := get (get .root.Values .process) .setting -}}
{{- $common := get .root.Values .setting -}}
{{- if and (hasKey (get .root.Values .process) .setting) (not (kindIs "invalid" $own)) }}{{ toJson $own }}{{ else }}{{ toJson $common }}{{ end -}}
{{- end }}

{{/* A map: the common one with the process's own entries over it. */}}
{{- define "sluice.merged" -}}
{{- mergeOverwrite (dict) (get .root.Values .setting | default dict | deepCopy) (get (get .root.Values .process) .setting | default dict | deepCopy) | toJson -}}
{{- end }}

{{/* A list: the common entries and then the process's own. */}}
{{- define "sluice.joined" -}}
{{- concat (get .root.Values .setting | default list) (get (get .root.Values .process) .setting | default list) | toJson -}}
{{- end }}

{{/* The account of a process; empty: the namespace's default. An account that the chart creates for a hook is the hook's own: the others' exist only after it. */}}
{{- define "sluice.accountName" -}}
{{- $account := include "sluice.merged" (merge (dict "setting" "serviceAccount") .) | fromJson -}}
{{- $own := get .root.Values .process -}}
{{- if or .root.Values.serviceAccount.name (dig "serviceAccount" "name" "" $own) }}{{ $account.name -}}
{{- else if dig "serviceAccount" "create" false $own }}{{ printf "%s-%s" (include "sluice.name" .root) .process -}}
{{- else if and $account.create (eq .process "migrate") }}{{ printf "%s-migrate" (include "sluice.name" .root) -}}
{{- else if $account.create }}{{ include "sluice.name" .root }}{{ end -}}
{{- end }}

{{/* Labels of a pod. Those that select it cannot be changed. */}}
{{- define "sluice.podLabels" -}}
{{- $labels := include "sluice.labels" . | fromYaml -}}
{{ include "sluice.labels" . }}
{{- range $name, $value := include "sluice.merged" (merge (dict "setting" "podLabels") .) | fromJson }}
{{- if hasKey $labels $name }}{{ fail (printf "podLabels: %s is the chart's own" $name) }}{{ end }}
{{ $name }}: {{ toString $value | quote }}
{{- end }}
{{- end }}

{{/* What every pod has, jobs' too: its account, its user, where it may run. */}}
{{- define "sluice.podBasics" -}}
{{- $account := include "sluice.merged" (merge (dict "setting" "serviceAccount") .) | fromJson -}}
automountServiceAccountToken: {{ $account.automountToken }}
enableServiceLinks: false
{{- with include "sluice.accountName" . }}
serviceAccountName: {{ . }}
{{- end }}
{{- with include "sluice.replaced" (merge (dict "setting" "priorityClassName") .) | trimAll "\"" }}
priorityClassName: {{ . }}
{{- end }}
securityContext: {{- include "sluice.podSecurity" . | nindent 2 }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with include "sluice.merged" (merge (dict "setting" "nodeSelector") .) | fromJson }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with include "sluice.replaced" (merge (dict "setting" "affinity") .) | fromJson }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with include "sluice.replaced" (merge (dict "setting" "tolerations") .) | fromJsonArray }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Constraints without a labelSelector spread the pods of the process. */}}
{{- define "sluice.spread" -}}
{{- $selector := dict "matchLabels" (include "sluice.selector" . | fromYaml) -}}
{{- $constraints := list -}}
{{- range include "sluice.replaced" (merge (dict "setting" "topologySpreadConstraints") .) | fromJsonArray }}
{{- $constraints = append $constraints (merge . (dict "labelSelector" $selector)) -}}
{{- end -}}
{{- with $constraints }}{{ toYaml . }}{{ end -}}
{{- end }}

{{- define "sluice.extraCaPath" -}}/etc/sluice-authorities{{- end }}

{{/* Volumes and mounts that the values add. */}}
{{- define "sluice.extraVolumes" -}}
{{- with .root.Values.extraCa }}{{ if .configMap }}
- { name: sluice-authorities, configMap: { name: {{ .configMap }}, items: [{ key: {{ .key }}, path: ca.pem }] } }
{{- else if .secret }}
- { name: sluice-authorities, secret: { secretName: {{ .secret }}, items: [{ key: {{ .key }}, path: ca.pem }] } }
{{- end }}{{ end }}
{{- with .root.Values.init }}{{ if and (eq $.process "api") .secret }}
- { name: init, secret: { secretName: {{ .secret }}, items: [{ key: {{ .key }}, path: init.yaml }] } }
{{- else if and (eq $.process "api") .configMap }}
- { name: init, configMap: { name: {{ .configMap }}, items: [{ key: {{ .key }}, path: init.yaml }] } }
{{- end }}{{ end }}
{{- with include "sluice.joined" (merge (dict "setting" "extraVolumes") .) | fromJsonArray }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "sluice.extraVolumeMounts" -}}
{{- with .root.Values.extraCa }}{{ if or .configMap .secret }}
- { name: sluice-authorities, mountPath: {{ include "sluice.extraCaPath" . }}, readOnly: true }
{{- end }}{{ end }}
{{- if and (eq .process "api") (or .root.Values.init.secret .root.Values.init.configMap) }}
- { name: init, mountPath: /etc/sluice-init, readOnly: true }
{{- end }}
{{- with include "sluice.joined" (merge (dict "setting" "extraVolumeMounts") .) | fromJsonArray }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* initContainers and sidecars are the values' own: the chart adds nothing to them. */}}
{{- define "sluice.ownContainers" -}}
{{- with include "sluice.joined" . | fromJsonArray }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "sluice.secretName" -}}
{{- $own := get (get .root.Values .process) "secretName" -}}
{{- $own | default .root.Values.secrets.name | required "secrets.name: which Secret holds DATABASE_URL and the others?" -}}
{{- end }}

{{/* Variables that are no secrets, of one process; what the values say goes before what is worked out here. */}}
{{- define "sluice.variables" -}}
{{- $values := .root.Values -}}
{{- $api := printf "http://%s-api:8000" (include "sluice.name" .root) -}}
{{- $all := dict "OPS_HOST" "::" -}}
{{- $service := include "sluice.service" . | fromJson -}}
{{- $speaksKafka := $service.kafka -}}
{{- if and (eq .process "gateway") (eq ($values.gateway.env.GATEWAY_DELIVERY | default "") "kafka") }}{{ $speaksKafka = true }}{{ end -}}
{{- if $speaksKafka -}}
{{- $_ := set $all "KAFKA_BROKERS" (required "kafka.brokers: where is Kafka?" $values.kafka.brokers) -}}
{{- with $values.registryUrl }}{{ $_ := set $all "SCHEMA_REGISTRY_URL" . }}{{ end -}}
{{- $_ := set $all "KAFKA_SSL" (toString $values.kafka.tls) -}}
{{- if ne $values.kafka.sasl "none" }}{{ $_ := set $all "KAFKA_SASL_MECHANISM" $values.kafka.sasl }}{{ end -}}
{{- if eq $values.kafka.sasl "oauthbearer" -}}
{{- with $values.kafka.oauth -}}
{{- $_ := set $all "KAFKA_OAUTH_TOKEN_URL" (required "kafka.oauth.tokenUrl: where are tokens asked for?" .tokenUrl) -}}
{{- range $variable, $value := dict "KAFKA_OAUTH_CLIENT_ID" .clientId "KAFKA_OAUTH_SCOPE" .scope "KAFKA_OAUTH_EXTENSIONS" .extensions }}{{ with $value }}{{ $_ := set $all $variable . }}{{ end }}{{ end -}}
{{- end -}}
{{- end -}}
{{- with $values.kafka.user }}{{ $_ := set $all "KAFKA_SASL_USERNAME" . }}{{ end -}}
{{- if ne $values.kafka.compression "zstd" }}{{ $_ := set $all "KAFKA_COMPRESSION" $values.kafka.compression }}{{ end -}}
{{- if $values.kafka.prefix }}{{ $_ := set $all "TOPIC_PREFIX" $values.kafka.prefix }}{{ end -}}
{{- end -}}
{{- /* A gateway that posts its records bounds them by it too. Not as a number: Helm writes large ones as 8.388608e+06. */}}
{{- if or $speaksKafka (eq .process "gateway") }}{{ with $values.kafka.maxRecordBytes }}{{ $_ := set $all "KAFKA_MAX_RECORD_BYTES" (int64 . | toString) }}{{ end }}{{ end -}}
{{- /* scripts/doctor runs where the API does. */}}
{{- if has .process (list "migrate" "api") -}}
{{- with $values.kafka.topicPartitions }}{{ $_ := set $all "KAFKA_TOPIC_PARTITIONS" (kindIs "float64" . | ternary (int64 . | toString) (toString .)) }}{{ end -}}
{{- with $values.kafka.topicRetentionMs }}{{ $_ := set $all "KAFKA_TOPIC_RETENTION_MS" (kindIs "float64" . | ternary (int64 . | toString) (toString .)) }}{{ end -}}
{{- end -}}
{{- if $service.database }}{{ $all = merge $all (include "sluice.databaseVariables" .root | fromJson) }}{{ end -}}
{{- if $service.callsApi }}{{ $_ := set $all "API_BACKEND_URL" $api }}{{ end -}}
{{- if has .process (list "api" "sink" "dashboard" "redteam") }}{{ $_ := set $all "DASHBOARD_URL" $values.dashboardUrl }}{{ end -}}
{{- if eq .process "api" }}{{ $_ := set $all "PUBLIC_BASE_URL" $values.publicBaseUrl }}{{ end -}}
{{- if and (eq .process "dashboard") $values.ingress.trustedProxies }}{{ $_ := set $all "TRUSTED_PROXIES" $values.ingress.trustedProxies }}{{ end -}}
{{- if and (eq .process "api") (or $values.init.secret $values.init.configMap) }}{{ $_ := set $all "SLUICE_INIT_FILE" "/etc/sluice-init/init.yaml" }}{{ end -}}
{{- if eq .process "gateway" }}{{ $_ := set $all "SPOOL_DIR" "/var/lib/sluice/spool" }}{{ end -}}
{{- if and (eq .process "scorer") $values.scorer.customScorers }}{{ $_ := set $all "CUSTOM_SCORERS_FILE" "/etc/sluice/scorers.yaml" }}{{ end -}}
{{- if or $values.extraCa.configMap $values.extraCa.secret }}{{ $_ := set $all "NODE_EXTRA_CA_CERTS" (printf "%s/ca.pem" (include "sluice.extraCaPath" .)) }}{{ end -}}
{{- if and $values.proxy.url $service.callsOutside }}{{ $_ := set $all "UPSTREAM_PROXY_URL" $values.proxy.url }}{{ with $values.proxy.noProxy }}{{ $_ := set $all "NO_PROXY" (join "," .) }}{{ end }}{{ end -}}
{{- mergeOverwrite $all $values.env (get $values .process).env | toJson -}}
{{- end }}

{{- define "sluice.env" -}}
{{- $of := . }}
{{- $variables := include "sluice.variables" . | fromJson }}
{{- $without := .root.Values.secrets.without }}
{{- range $name, $value := $variables }}
- name: {{ $name }}
  value: {{ toString $value | quote }}
{{- end }}
{{- range $name := include "sluice.secrets" . | fromJsonArray }}
{{- /* What the values say or a file holds (NAME_FILE) is not in the Secret. */}}
{{- if not (or (has $name $without) (hasKey $variables $name) (hasKey $variables (printf "%s_FILE" $name))) }}
- name: {{ $name }}
  {{- $from := include "sluice.secretKey" (merge (dict "variable" $name) $of) | fromJson }}
  valueFrom:
    secretKeyRef: { name: {{ $from.name }}, key: {{ $from.key }}, optional: {{ $from.optional }} }
{{- end }}
{{- end }}
{{- end }}

{{- define "sluice.podSecurity" -}}
runAsNonRoot: true
{{- with eq .process "backup" | ternary .root.Values.backup.userId .root.Values.userId }}
runAsUser: {{ int64 . }}
runAsGroup: {{ int64 . }}
fsGroup: {{ int64 . }}
{{- end }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "sluice.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* A pod's template: the same for every process but for what it runs and where it writes. */}}
{{- define "sluice.pod" -}}
{{- $own := get .root.Values .process -}}
{{- $service := include "sluice.service" . | fromJson -}}
{{- $annotations := include "sluice.merged" (merge (dict "setting" "podAnnotations") .) | fromJson }}
{{- /* 25000 is the services' own. Killed earlier a gateway would lose the records of the calls that it still answers. */}}
{{- $drainMs := get (include "sluice.variables" . | fromJson) "DRAIN_DEADLINE_MS" | default "25000" | int64 }}
{{- if le (mul 1000 $own.terminationGracePeriodSeconds) $drainMs }}
{{- fail (printf "%s.terminationGracePeriodSeconds: has to be longer than its DRAIN_DEADLINE_MS, %d" .process $drainMs) }}
{{- end }}
{{- /* Variables are read once: pods begin anew when a Secret that the chart makes has changed. */}}
{{- with .root.Values.secrets.create }}{{ $annotations = merge (dict "checksum/secret" (toJson . | sha256sum)) $annotations }}{{ end -}}
metadata:
  labels: {{- include "sluice.podLabels" . | nindent 4 }}
  {{- with $annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  terminationGracePeriodSeconds: {{ $own.terminationGracePeriodSeconds }}
  {{- include "sluice.podBasics" . | nindent 2 }}
  {{- with include "sluice.spread" . }}
  topologySpreadConstraints: {{- . | nindent 4 }}
  {{- end }}
  {{- with include "sluice.ownContainers" (merge (dict "setting" "initContainers") .) }}
  initContainers: {{- . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ .process }}
      image: {{ include "sluice.image" .root | quote }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args: [{{ with $service.nodeOptions }}{{ . }}, {{ end }}services/{{ .process }}/main.ts]
      env: {{- include "sluice.env" . | trim | nindent 8 }}
      {{- with include "sluice.joined" (merge (dict "setting" "extraEnvFrom") .) | fromJsonArray }}
      envFrom: {{- toYaml . | nindent 8 }}
      {{- end }}
      ports:
        {{- range $name, $port := $service.ports }}
        - { name: {{ $name }}, containerPort: {{ $port }} }
        {{- end }}
      # Slow to start is not dead: consumers wait for Kafka and Postgres.
      startupProbe: {{- merge (dict "httpGet" (dict "path" "/healthz" "port" "ops")) (include "sluice.merged" (merge (dict "setting" "startupProbe") .) | fromJson) | toYaml | nindent 8 }}
      livenessProbe: { httpGet: { path: /healthz, port: ops }, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 }
      readinessProbe: { httpGet: { path: /readyz, port: ops }, periodSeconds: 5, timeoutSeconds: 5, failureThreshold: 2 }
      resources: {{- toYaml $own.resources | nindent 8 }}
      securityContext: {{- include "sluice.containerSecurity" . | nindent 8 }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        {{- if eq .process "gateway" }}
        - { name: spool, mountPath: /var/lib/sluice/spool }
        {{- end }}
        {{- if and (eq .process "scorer") $own.customScorers }}
        - { name: scorers, mountPath: /etc/sluice, readOnly: true }
        {{- end }}
        {{- with include "sluice.extraVolumeMounts" . | trim }}
        {{- . | nindent 8 }}
        {{- end }}
    {{- with include "sluice.ownContainers" (merge (dict "setting" "sidecars") .) }}
    {{- . | trim | nindent 4 }}
    {{- end }}
  volumes:
    - { name: tmp, emptyDir: { sizeLimit: 256Mi } }
    {{- if and (eq .process "scorer") $own.customScorers }}
    - { name: scorers, configMap: { name: {{ include "sluice.name" .root }}-scorers } }
    {{- end }}
    {{- with include "sluice.extraVolumes" . | trim }}
    {{- . | nindent 4 }}
    {{- end }}
{{- end }}
