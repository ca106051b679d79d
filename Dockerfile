# A grader in a container:
#
#     docker build -t attention-labs .
#     docker run --rm -it -v "$PWD:/course" attention-labs grade lab01
#
# /course is the folder with course.toml. In a container, hand-ins are confined by the kernel's
# Landlock (Linux 6.12 or later): bubblewrap would need rights that a container does not have.
FROM python:3.11-slim
WORKDIR /opt/attention-labs
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY lib lib
COPY autograder autograder
# PyTorch's build without CUDA comes from its own index; PyPI's would add gigabytes.
RUN pip install --no-cache-dir -c constraints.txt --index-url https://download.pytorch.org/whl/cpu torch \
 && pip install --no-cache-dir -c constraints.txt '.[staff,cluster,postgres]' \
 && useradd --create-home grader
USER grader
WORKDIR /course
ENTRYPOINT ["lab"]
